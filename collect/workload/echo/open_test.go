package echo

import (
	"slices"
	"strings"
	"testing"

	"pairbench/collect/driver"
	"pairbench/collect/workload/echoserver"
)

// Every request of an open loop has the instant at which it was due, in every
// arm, against a server in this process and against an address.
func TestOpenLoopKeepsTheSchedule(t *testing.T) {
	server := serve(t, echoserver.TCP)
	for _, arm := range arms() {
		for _, kind := range []string{"constant", "poisson"} {
			for _, service := range []*driver.Service{nil, {Address: server.Address()}} {
				j := job(arm, 10, 100, "connections", 2, "outstanding", 8, "payload_bytes", 64, "arrival", kind)
				j.Settings["rate_per_sec"] = 5000
				j.Service = service
				w, err := Open(j)
				if err != nil {
					t.Fatalf("%s %s: %v", arm, kind, err)
				}
				if err := w.WarmUp(); err != nil {
					t.Fatal(err)
				}
				if err := w.Measure(func() error { return nil }); err != nil {
					t.Fatal(err)
				}
				r, s := w.Result(), w.Samples()
				mustBeGood(t, j, r, s)
				if len(s.ScheduledNs) != 100 || r.Runtime["arrival"] != kind {
					t.Errorf("%s %s: %d scheduled instants, arrival %q", arm, kind, len(s.ScheduledNs), r.Runtime["arrival"])
				}
				if kind == "constant" {
					due := slices.Sorted(slices.Values(s.ScheduledNs))
					for i, at := range due {
						if want := int64(i) * 200_000; at != want {
							t.Fatalf("%s: request %d was due at %d ns, expected %d", arm, i, at, want)
						}
					}
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// A schedule that a workload would not keep is refused, not ignored.
func TestClosedLoopsRefuseAnArrival(t *testing.T) {
	j := job("goroutine", 0, 10, "arrival", "poisson")
	j.Settings["rate_per_sec"] = 100
	for name, open := range map[string]func(driver.Job) (*Workload, error){"tcp": OpenTCP, "http": OpenHTTP, "websocket": OpenWebSocket} {
		if w, err := open(j); err == nil || !strings.Contains(err.Error(), "closed loop") {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				w.Close()
			}
		}
	}
	for factor, want := range map[string]string{"in_flight": "in_flight is 2", "threads": "threads is 2", "work": "work is 2"} {
		j := job("goroutine", 0, 10, "arrival", "constant", factor, 2)
		j.OperationsPerSample = 0
		j.Settings["rate_per_sec"] = 100
		if _, err := Open(j); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", factor, err)
		}
	}
	if _, err := Open(job("goroutine", 0, 10, "arrival", "constant")); err == nil || !strings.Contains(err.Error(), "rate_per_sec") {
		t.Errorf("no rate: %v", err)
	}
}
