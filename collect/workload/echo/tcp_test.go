package echo

import (
	"fmt"
	"runtime"
	"testing"

	"pairbench/collect/driver"
	"pairbench/collect/workload/echoserver"
	"pairbench/collect/workload/engine"
	"pairbench/records"
)

// arms are the arms of this system.
func arms() []string {
	if runtime.GOOS != "linux" {
		return []string{engine.ArmGoroutine}
	}
	return []string{engine.ArmCallback, engine.ArmCoroutine, engine.ArmGoroutine}
}

// job returns a job of the given counts; factors are name, value pairs.
func job(arm string, warmup, measure int64, factors ...any) driver.Job {
	j := driver.Job{
		Protocol: driver.ProtocolVersion, ProcessNo: 7, Arm: arm, Side: records.SideA, Round: 1,
		Factors: map[string]any{}, Settings: map[string]any{},
		Warmup: driver.Amount{Operations: warmup}, Measure: driver.Amount{Operations: measure}, Seed: 42,
	}
	for i := 0; i < len(factors); i += 2 {
		j.Factors[factors[i].(string)] = factors[i+1]
	}
	if n, ok := j.Factors["in_flight"].(int); ok && n > 1 {
		j.OperationsPerSample = int64(n)
	}
	return j
}

// outcome runs an open workload to its end.
func outcome(t *testing.T, w *Workload) (driver.Result, records.Samples) {
	t.Helper()
	if err := w.WarmUp(); err != nil {
		t.Fatalf("WarmUp: %v", err)
	}
	if err := w.Measure(func() error { return nil }); err != nil {
		t.Fatalf("Measure: %v", err)
	}
	return w.Result(), w.Samples()
}

// mustBeGood checks the result as the collector does.
func mustBeGood(t *testing.T, j driver.Job, r driver.Result, s records.Samples) {
	t.Helper()
	if outcome, detail := driver.Check(j, r, &s, driver.Observed{}); outcome != records.OutcomeOK {
		t.Errorf("Check: %s: %s", outcome, detail)
	}
	if r.Runtime["io"] == "" || r.Runtime["arm"] == "" {
		t.Errorf("runtime settings are %v", r.Runtime)
	}
}

func TestTCP(t *testing.T) {
	for _, arm := range arms() {
		for _, c := range []struct{ connections, inFlight, threads, work, size int }{
			{1, 1, 1, 0, 8},
			{1, 1, 2, 0, 64},
			{16, 1, 1, 0, 1024},
			{16, 16, 1, 0, 1024},
			{16, 1, 4, 10, 1024},
			{16, 16, 4, 10, 4096},
			{2, 3, 1, 1000, 65},
			{1, 4, 1, 0, 64 << 10},
		} {
			t.Run(fmt.Sprintf("%s/%d/%d/%d/%d/%d", arm, c.connections, c.inFlight, c.threads, c.work, c.size), func(t *testing.T) {
				n := int64(c.inFlight)
				j := job(arm, 50*n, 400*n, "connections", c.connections, "in_flight", c.inFlight,
					"threads", c.threads, "work", c.work, "payload_bytes", c.size)
				w, err := OpenTCP(j)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				r, s := outcome(t, w)
				mustBeGood(t, j, r, s)
			})
		}
	}
}

func TestTCPForATime(t *testing.T) {
	for _, arm := range arms() {
		t.Run(arm, func(t *testing.T) {
			j := job(arm, 0, 0, "in_flight", 4, "threads", 2)
			j.Warmup, j.Measure = driver.Amount{DurationNs: 5e6}, driver.Amount{DurationNs: 40e6}
			w, err := OpenTCP(j)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			r, s := outcome(t, w)
			mustBeGood(t, j, r, s)
			if r.WarmupOperations == 0 {
				t.Error("no warm-up operation")
			}
		})
	}
}

// The embedded server is an external one to the workload.
func TestTCPAgainstAnAddress(t *testing.T) {
	server := serve(t, echoserver.TCP)
	for _, arm := range arms() {
		t.Run(arm, func(t *testing.T) {
			j := job(arm, 16, 160, "connections", 4, "in_flight", 4, "payload_bytes", 64)
			j.Service = &driver.Service{Address: server.Address()}
			w, err := OpenTCP(j)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			r, s := outcome(t, w)
			mustBeGood(t, j, r, s)
		})
	}
}

func serve(t *testing.T, p echoserver.Protocol) *echoserver.Server {
	t.Helper()
	server, err := echoserver.Listen("127.0.0.1:0", p)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve() }()
	t.Cleanup(func() {
		server.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return server
}
