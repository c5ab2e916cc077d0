package mysql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pairbench/collect/driver"
	"pairbench/collect/service"
	"pairbench/collect/workload/engine"
	"pairbench/records"
)

// startMySQL starts a server and puts its password where a driver finds it.
func startMySQL(t *testing.T, fault service.Fault) driver.Service {
	t.Helper()
	i, err := service.Start(context.Background(), service.Spec{Name: "mysql", Kind: service.MySQL, Mode: service.Managed, Fault: fault})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Stop(context.Background()) })
	for _, pair := range i.Env() {
		if name, value, ok := strings.Cut(pair, "="); ok && name == i.Service.PasswordEnv {
			secrets[i.Service.Address] = value
		}
	}
	return i.Service
}

// secrets holds the servers' passwords by address: opening a workload takes the
// password out of the environment.
var secrets = map[string]string{}

func newText(t *testing.T, job driver.Job) (*Workload, error) {
	t.Helper()
	if s := job.Service; s != nil && s.PasswordEnv != "" {
		t.Setenv(s.PasswordEnv, secrets[s.Address])
	}
	return NewText(job)
}

func textJob(s driver.Service) driver.Job {
	return driver.Job{
		Protocol: 1, Workload: "mysql_text", Arm: engine.ArmCallback, Seed: 11,
		Factors:  map[string]any{"payload_bytes": 64, "connections": 2, "outstanding": 4},
		Settings: map[string]any{},
		Warmup:   driver.Amount{Operations: 10}, Measure: driver.Amount{Operations: 100},
		Service: &s,
	}
}

func open(t *testing.T, job driver.Job) (*engine.Engine, error) {
	t.Helper()
	w, err := newText(t, job)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Open(job, w)
}

func measure(t *testing.T, job driver.Job) (driver.Result, records.Samples) {
	t.Helper()
	e, err := open(t, job)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := errors.Join(e.WarmUp(), e.Measure(func() error { return nil })); err != nil {
		t.Fatal(err)
	}
	return e.Result(), e.Samples()
}

func TestEveryArmAndResetPolicy(t *testing.T) {
	s := startMySQL(t, service.FaultNone)
	for _, arm := range []string{engine.ArmCallback, engine.ArmCoroutine, engine.ArmGoroutine} {
		for _, io := range []string{"separate", "inline"} {
			for _, reset := range []string{"library", "full"} {
				for _, size := range []int{1, 64, 4096} {
					if arm == engine.ArmGoroutine && io == "inline" {
						continue // the goroutine arm has no owner that could do the IO
					}
					t.Run(fmt.Sprint(arm, " ", io, " ", reset, " ", size), func(t *testing.T) {
						job := textJob(s)
						job.Arm = arm
						job.Factors["payload_bytes"] = size
						job.Settings = map[string]any{"io": io, "mysql_reset": reset}
						r, samples := measure(t, job)
						if outcome, detail := driver.Check(job, r, &samples, driver.Observed{}); outcome != records.OutcomeOK {
							t.Errorf("%s: %s", outcome, detail)
						}
						if !strings.HasPrefix(r.Runtime["reset_policy"], reset) {
							t.Errorf("reset policy is %q", r.Runtime["reset_policy"])
						}
						if r.Runtime["tls_cipher"] == "" || r.Versions["server"] == "" {
							t.Errorf("cipher %q, server %q", r.Runtime["tls_cipher"], r.Versions["server"])
						}
					})
				}
			}
		}
	}
}

// TestFullResetForgetsTheSession shows the difference between the policies by
// a session variable.
func TestFullResetForgetsTheSession(t *testing.T) {
	s := startMySQL(t, service.FaultNone)
	for reset, want := range map[string]string{"library": "42", "full": ""} {
		job := textJob(s)
		job.Settings["mysql_reset"] = reset
		job.Factors = map[string]any{}
		w, err := newText(t, job)
		if err != nil {
			t.Fatal(err)
		}
		probe := &variableProbe{Workload: w}
		e, err := engine.Open(job, probe)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(e.WarmUp(), e.Measure(func() error { return nil }))
		if r := e.Result(); err != nil || r.Errors+r.WarmupErrors != 0 {
			t.Fatalf("%v, %+v", err, r)
		}
		e.Close()
		if probe.kept != want {
			t.Errorf("%s: the session keeps %q, expected %q", reset, probe.kept, want)
		}
	}
}

// variableProbe sets a session variable in its first request and reads it, after
// the next lease, in all others.
type variableProbe struct {
	*Workload
	kept string
}

func (p *variableProbe) Open(no int, dial engine.Dial) (engine.Conn, error) {
	c, err := p.Workload.Open(no, dial)
	if err != nil {
		return nil, err
	}
	return &probeConn{p, c.(*conn)}, nil
}

type probeConn struct {
	p *variableProbe
	*conn
}

func (c *probeConn) Do(op int64) error {
	if err := c.lease(); err != nil {
		return err
	}
	if op == 0 {
		_, err := c.text("SELECT @pairbench := '42'", 1)
		return err
	}
	row, err := c.text("SELECT COALESCE(@pairbench, '')", 1)
	if err == nil {
		c.p.kept = row[0]
	}
	return err
}

func TestUnverifiedServersAreRefused(t *testing.T) {
	for fault, want := range map[service.Fault]string{
		service.FaultOtherCA:   "certificate signed by unknown authority",
		service.FaultExpired:   "certificate has expired",
		service.FaultWrongName: "certificate is valid for",
		service.FaultNoTLS:     "server does not support TLS",
	} {
		t.Run(string(fault), func(t *testing.T) {
			s := startMySQL(t, fault)
			for _, arm := range []string{engine.ArmCallback, engine.ArmGoroutine} {
				job := textJob(s)
				job.Arm = arm
				_, err := open(t, job)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: got %v, want %q", arm, err, want)
				}
			}
		})
	}
}

func TestErrorsOfTheServer(t *testing.T) {
	s := startMySQL(t, service.FaultNone)
	t.Run("wrong password", func(t *testing.T) {
		job := textJob(s)
		wrong := "not-the-password"
		right := secrets[s.Address]
		secrets[s.Address] = wrong
		defer func() { secrets[s.Address] = right }()
		_, err := open(t, job)
		if err == nil || !strings.Contains(err.Error(), "Access denied") || strings.Contains(err.Error(), wrong) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("another name", func(t *testing.T) {
		job := textJob(s)
		job.Service.ServerName = "elsewhere.example"
		if _, err := open(t, job); err == nil || !strings.Contains(err.Error(), "not elsewhere.example") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("error replies", func(t *testing.T) {
		job := textJob(s)
		w, err := newText(t, job)
		if err != nil {
			t.Fatal(err)
		}
		e, err := engine.Open(job, badQueries{w})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := errors.Join(e.WarmUp(), e.Measure(func() error { return nil })); err != nil {
			t.Fatal(err)
		}
		// The first ten requests are the warm-up; every tenth fails.
		if r := e.Result(); r.WarmupErrors != 1 || r.Errors != 10 || r.MeasuredOperations != 90 || !strings.Contains(r.FirstError, "error in your SQL syntax") {
			t.Errorf("counted %+v", r)
		}
	})
}

// TestEveryWrongReplyIsAnError has the server answer something else than it was
// asked for.
func TestEveryWrongReplyIsAnError(t *testing.T) {
	s := startMySQL(t, service.FaultNone)
	for name, c := range map[string]struct {
		query, want string
	}{
		"short":       {"SELECT LEFT(?, 10)", "10 bytes, expected 64"},
		"nil":         {"SELECT NULLIF(?, '') IS NULL AND NULL", "value is"},
		"stale":       {"SELECT CONCAT(COALESCE(@last, REPEAT('x', 64)), LEFT(@last := ?, 0))", "differs from what was sent"},
		"one bit":     {"SELECT CONCAT(LEFT(@p := ?, 63), CHAR(ASCII(RIGHT(@p, 1)) ^ 1))", "byte 63 of 64 differs"},
		"no row":      {"SELECT ? FROM DUAL WHERE FALSE", "no row"},
		"two rows":    {"SELECT ? UNION ALL SELECT 'another'", "a second row"},
		"two columns": {"SELECT ?, 1", "2 columns, expected 1"},
		"no result":   {"SET @p = ?", "columns, expected 1"},
		"error":       {"SELECT ? FROM no_such_table", "no_such_table"},
		"closed":      {"KILL CONNECTION_ID() + 0 * LENGTH(?)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, arm := range []string{engine.ArmCallback, engine.ArmCoroutine, engine.ArmGoroutine} {
				job := textJob(s)
				job.Arm = arm
				w, err := newText(t, job)
				if err != nil {
					t.Fatal(err)
				}
				w.query = c.query
				e, err := engine.Open(job, w)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(e.WarmUp(), e.Measure(func() error { return nil })); err != nil {
					t.Fatal(err)
				}
				if r := e.Result(); r.MeasuredOperations != 0 || r.Errors != 100 || r.WarmupErrors != 10 || !strings.Contains(r.FirstError, c.want) {
					t.Errorf("%s: counted %+v", arm, r)
				}
				e.Close()
			}
		})
	}
}

// badQueries sends nonsense now and then.
type badQueries struct{ *Workload }

func (b badQueries) Open(no int, dial engine.Dial) (engine.Conn, error) {
	c, err := b.Workload.Open(no, dial)
	if err != nil {
		return nil, err
	}
	return badConn{c.(*conn)}, nil
}

type badConn struct{ *conn }

func (c badConn) Do(op int64) error {
	if op%10 == 5 {
		_, err := c.text("SELECT FROM WHERE", 1)
		return c.w.fault(op, err)
	}
	return c.conn.Do(op)
}

func TestJobsThatCannotBeMeant(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*driver.Job)
		want   string
	}{
		"no service":     {func(j *driver.Job) { j.Service = nil }, "no service address"},
		"no CA file":     {func(j *driver.Job) { j.Service.CAFile = "" }, "no ca_file"},
		"empty CA file":  {func(*driver.Job) {}, "no certificate found"},
		"batches":        {func(j *driver.Job) { j.OperationsPerSample = 2 }, "operations_per_sample is 2"},
		"another policy": {func(j *driver.Job) { j.Settings["mysql_reset"] = "never" }, `mysql_reset is "never"`},
		"no port":        {func(j *driver.Job) { j.Service.Address = "localhost" }, ""},
	} {
		job := textJob(driver.Service{Address: "127.0.0.1:1", CAFile: ca})
		c.change(&job)
		if _, err := NewText(job); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestResetterNeedsTheLibrary(t *testing.T) {
	if _, err := newResetter(nil); err == nil || !strings.Contains(err.Error(), "keeps its connection elsewhere") {
		t.Errorf("got %v", err)
	}
}
