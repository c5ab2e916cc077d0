package collect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pairbench/collect/proc"
	"pairbench/collect/service"
	"pairbench/records"
	"pairbench/records/digest"
)

// protocols are what an embedded server speaks for each workload.
var protocols = map[string]string{
	"redis_echo": "resp2", "redis_pipeline": "resp2", "tcp_echo": "tcp", "http_echo": "http", "websocket_echo": "websocket",
}

// serviceSpec is what a suite asks of package service.
func (c *collection) serviceSpec(suite int) service.Spec {
	s := c.plan.Suites[suite]
	v := s.Service
	spec := service.Spec{
		Name: v.Name, Kind: service.Kind(v.Kind), Mode: service.Mode(v.Mode), Address: v.Address,
		User: v.User, PasswordEnv: v.PasswordEnv, PasswordFile: v.PasswordFile, Database: v.Database,
		CAFile: v.CAFile, ServerName: v.ServerName, Dir: c.work,
		Redact: c.secrets.Clean,
	}
	if spec.Mode != service.External {
		spec.CPUs = c.places[suite].Server
		spec.Options = v.Options
	}
	if spec.Mode == service.Embedded {
		spec.Protocol = protocols[s.Workload]
		spec.Options = nil
	}
	return spec
}

// tryServices is not a rehearsal for its own sake: a server that is missing is
// found before the first measurement, its binary is hashed in time, and what it
// says of itself is known for suites that an earlier session has measured.
func (c *collection) tryServices(ctx context.Context) error {
	c.services = make([]*records.RunService, len(c.plan.Suites))
	for i, s := range c.plan.Suites {
		if s.Service == nil {
			continue
		}
		instance, err := c.serve(ctx, i)
		if err != nil {
			return err
		}
		said, err := describe(instance)
		if err != nil {
			return &SetupError{Object: "service " + s.Service.Name, Err: err}
		}
		said.Version = c.secrets.Text(said.Version)
		c.services[i] = said
		if instance.BinaryPath != "" {
			c.serverPaths[instance.BinaryPath] = true
		}
	}
	return nil
}

func describe(i *service.Instance) (*records.RunService, error) {
	said := &records.RunService{
		Name: i.Name, Kind: string(i.Kind), Mode: string(i.Mode),
		Version: strings.TrimSpace(i.Product + " " + i.Version), CPUs: proc.FormatCPUs(i.CPUs),
	}
	if i.Mode == service.External {
		said.Address = i.Service.Address
	}
	if i.TLS != "" {
		tls := i.TLS
		said.TLS = &tls
	}
	if i.BinaryPath != "" {
		sum, _, err := digest.File(i.BinaryPath)
		if err != nil {
			return nil, err
		}
		hex := sum.String()
		said.SHA256 = &hex
	}
	return said, nil
}

// serve returns the running service of a suite. One service runs at a time: an
// idle server of another suite would be company for the measured one.
func (c *collection) serve(ctx context.Context, suite int) (*service.Instance, error) {
	spec := c.serviceSpec(suite)
	key := fmt.Sprintf("%+v", struct {
		A, B, C, D, E, F any
	}{spec.Name, spec.Mode, spec.Address, spec.CPUs, spec.Protocol, spec.Options})
	if c.running != nil && c.runningKey == key && c.running.Err() == nil {
		return c.running, nil
	}
	if err := c.stopService(); err != nil {
		return nil, err
	}
	began := time.Now()
	defer func() { c.run.ServiceStartNs += time.Since(began).Nanoseconds() }()
	if spec.Mode == service.Embedded {
		path, err := c.findBuiltin("pbdriver")
		if err != nil {
			return nil, err
		}
		spec.Program = path
	}
	instance, err := service.Start(ctx, spec)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &SetupError{Object: "suite " + c.plan.Suites[suite].ID, Err: err}
	}
	c.secrets.Add(instance.Secrets()...)
	c.running, c.runningKey = instance, key
	return instance, nil
}

// stopService ends the running service, if there is one.
func (c *collection) stopService() error {
	if c.running == nil {
		return nil
	}
	instance := c.running
	c.running, c.runningKey = nil, ""
	return instance.Stop(context.Background())
}
