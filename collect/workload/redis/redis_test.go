package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pairbench/collect/driver"
	"pairbench/collect/driver/drivertest"
	"pairbench/collect/service"
	"pairbench/collect/workload/engine"
	"pairbench/records"
)

func measure(t *testing.T, job driver.Job) (driver.Result, records.Samples) {
	t.Helper()
	newWorkload := NewEcho
	if job.Workload == "redis_pipeline" {
		newWorkload = NewPipeline
	}
	w, err := newWorkload(job)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(job, w)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := errors.Join(e.WarmUp(), e.Measure(func() error { return nil })); err != nil {
		t.Fatal(err)
	}
	return e.Result(), e.Samples()
}

func echoJob(address string) driver.Job {
	return driver.Job{
		Protocol: 1, Workload: "redis_echo", Arm: engine.ArmCallback, Seed: 11,
		Factors:  map[string]any{"payload_bytes": 64, "connections": 2, "outstanding": 4},
		Settings: map[string]any{},
		Warmup:   driver.Amount{Operations: 20}, Measure: driver.Amount{Operations: 400},
		Service: &driver.Service{Address: address},
	}
}

func pipelineJob(address string) driver.Job {
	job := echoJob(address)
	job.Workload = "redis_pipeline"
	job.OperationsPerSample = 16
	job.Factors["batch"] = 16
	job.Warmup, job.Measure = driver.Amount{Operations: 32}, driver.Amount{Operations: 1600}
	return job
}

// variants calls f with the job in every arm and way of IO.
func variants(t *testing.T, job driver.Job, f func(t *testing.T, job driver.Job)) {
	for _, v := range [][2]string{
		{engine.ArmCallback, "separate"}, {engine.ArmCallback, "inline"},
		{engine.ArmCoroutine, "separate"}, {engine.ArmCoroutine, "inline"}, {engine.ArmGoroutine, "separate"},
	} {
		job.Arm = v[0]
		job.Settings = map[string]any{"io": v[1]}
		t.Run(v[0]+" "+v[1], func(t *testing.T) { f(t, job) })
	}
}

func TestRedisServer(t *testing.T) {
	server, err := service.Start(context.Background(), service.Spec{Name: "redis", Kind: service.Redis, Mode: service.Managed})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(context.Background())
	address := server.Service.Address
	large := echoJob(address)
	large.Factors = map[string]any{"payload_bytes": 100_000, "connections": 2, "outstanding": 3}
	tiny := echoJob(address)
	tiny.Factors = map[string]any{"payload_bytes": 1}
	wide := pipelineJob(address)
	wide.Factors = map[string]any{"payload_bytes": 4096, "connections": 4, "outstanding": 4, "batch": 16}
	for name, job := range map[string]driver.Job{
		"echo": echoJob(address), "large echo": large, "tiny echo": tiny, "pipeline": pipelineJob(address), "wide pipeline": wide,
	} {
		t.Run(name, func(t *testing.T) {
			variants(t, job, func(t *testing.T, job driver.Job) {
				r, s := measure(t, job)
				if outcome, detail := driver.Check(job, r, &s, driver.Observed{}); outcome != records.OutcomeOK {
					t.Errorf("%s: %s", outcome, detail)
				}
				if r.Versions["server"] != server.Version {
					t.Errorf("server is %q, expected %q", r.Versions["server"], server.Version)
				}
				if !strings.HasPrefix(r.Runtime["reset_policy"], "library") {
					t.Errorf("reset policy is %q", r.Runtime["reset_policy"])
				}
			})
		})
	}
}

// TestEveryWrongReplyIsAnError counts what a lying server did against what was
// found. A lost connection ends what it carried, so that there the count differs.
func TestEveryWrongReplyIsAnError(t *testing.T) {
	for _, lie := range drivertest.RESPLies {
		t.Run(string(lie), func(t *testing.T) {
			variants(t, echoJob(""), func(t *testing.T, job driver.Job) {
				liar := drivertest.StartLyingRESP(t, lie)
				job.Service = &driver.Service{Address: liar.Address}
				r, s := measure(t, job)
				found := r.Errors + r.WarmupErrors
				switch {
				case lie == drivertest.LieClosed && (found < liar.Wrong() || liar.Wrong() != 2):
					t.Errorf("%d errors, the server closed %d connections of 2", found, liar.Wrong())
				case lie != drivertest.LieClosed && (found != liar.Wrong() || found == 0):
					t.Errorf("%d errors, the server lied %d times", found, liar.Wrong())
				}
				if r.Errors+r.MeasuredOperations != 400 || int64(s.Len()) != r.MeasuredOperations || r.Incomplete != 0 {
					t.Errorf("counted %+v with %d samples", r, s.Len())
				}
				if r.FirstError == "" {
					t.Error("the first error is not kept")
				}
				if outcome, _ := driver.Check(job, r, &s, driver.Observed{}); outcome != records.OutcomeOperationErrors {
					t.Errorf("outcome %s", outcome)
				}
			})
		})
	}
}

func TestEveryWrongBatchIsAnError(t *testing.T) {
	for _, lie := range drivertest.RESPLies {
		t.Run(string(lie), func(t *testing.T) {
			// One connection, so that the server counts each batch on its own.
			one := pipelineJob("")
			one.Factors["connections"], one.Factors["outstanding"] = 1, 1
			variants(t, one, func(t *testing.T, job driver.Job) {
				liar := drivertest.StartLyingRESP(t, lie)
				job.Service = &driver.Service{Address: liar.Address}
				r, s := measure(t, job)
				// One command in ten is wrong, so that every batch of 16 is.
				if r.MeasuredOperations != 0 || r.Errors != 1600 || s.Len() != 0 || r.WarmupErrors != 32 {
					t.Errorf("counted %+v with %d samples", r, s.Len())
				}
			})
		})
	}
}

func TestPasswordIsNotShown(t *testing.T) {
	const secret = "correct-horse-battery"
	w := &Workload{password: secret}
	if err := w.fault(1, fmt.Errorf("cannot send %s", secret)); strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "[redacted]") {
		t.Errorf("got %v", err)
	}
}

func TestJobsThatCannotBeMeant(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*driver.Job)
		want   string
	}{
		"no service":        {func(j *driver.Job) { j.Service = nil }, "no service address"},
		"empty payload":     {func(j *driver.Job) { j.Factors["payload_bytes"] = 0 }, "payload_bytes is 0"},
		"another batch":     {func(j *driver.Job) { j.Factors["batch"] = 8 }, "batch is 8, operations_per_sample is 16"},
		"missing CA file":   {func(j *driver.Job) { j.Service.CAFile = "/no/such/file" }, "read CA file"},
		"missing password":  {func(j *driver.Job) { j.Service.PasswordEnv = "PAIRBENCH_TEST_NO_SUCH" }, "PAIRBENCH_TEST_NO_SUCH is not set"},
		"CA file of no CAs": {func(j *driver.Job) { j.Service.CAFile = "redis_test.go" }, "no certificate found"},
	} {
		job := pipelineJob("127.0.0.1:1")
		c.change(&job)
		if _, err := NewPipeline(job); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestField(t *testing.T) {
	info := "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n"
	if got := field(info, "redis_version"); got != "7.0.15" {
		t.Errorf("got %q", got)
	}
	if got := field(info, "uptime"); got != "" {
		t.Errorf("got %q", got)
	}
}
