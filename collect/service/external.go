package service

import (
	"context"
	"net"

	"pairbench/collect/driver"
)

// connect probes a server that runs already.
func (i *Instance) connect(ctx context.Context) error {
	password, err := i.spec.password()
	if err != nil {
		return err
	}
	i.Service = driver.Service{
		Address: i.spec.Address, CAFile: i.spec.CAFile, ServerName: i.spec.ServerName,
		User: i.spec.User, Database: i.spec.Database,
	}
	if password != "" {
		i.secrets = []string{password}
		i.Service.PasswordEnv = PasswordEnv
	}
	switch i.Kind {
	case Redis:
		_, err = i.probeRedis(ctx)
	case MySQL:
		err = i.probeMySQL(ctx)
	default:
		// An echo server says nothing of itself: it is there or it is not.
		var conn net.Conn
		if conn, err = i.dial(ctx); err == nil {
			err = conn.Close()
		}
	}
	return err
}

// serverName is the name that the server's certificate must carry.
func (i *Instance) serverName() string {
	if i.Service.ServerName != "" {
		return i.Service.ServerName
	}
	host, _, err := net.SplitHostPort(i.Service.Address)
	if err != nil {
		return i.Service.Address
	}
	return host
}
