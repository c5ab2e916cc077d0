package echo

import (
	"fmt"
	"strings"
	"testing"

	"pairbench/collect/driver"
	"pairbench/collect/workload/echoserver"
)

func TestHTTPAndWebSocket(t *testing.T) {
	for name, open := range map[string]func(driver.Job) (*Workload, error){"http": OpenHTTP, "websocket": OpenWebSocket} {
		for _, c := range []struct{ connections, inFlight, threads, size int }{
			{1, 1, 1, 8}, {4, 1, 1, 4096}, {2, 3, 2, 64}, {16, 16, 2, 64}, {1, 4, 1, 64 << 10},
		} {
			for _, external := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/%d/%d/%d/%v", name, c.connections, c.inFlight, c.threads, c.size, external), func(t *testing.T) {
					n := int64(c.inFlight)
					j := job("goroutine", 20*n, 100*n, "connections", c.connections, "in_flight", c.inFlight, "threads", c.threads, "payload_bytes", c.size)
					if external {
						j.Service = &driver.Service{Address: serve(t, echoserver.Protocol(name)).Address()}
					}
					w, err := open(j)
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
}

func TestBadJobs(t *testing.T) {
	with := func(j driver.Job, edit func(*driver.Job)) driver.Job {
		edit(&j)
		return j
	}
	for _, c := range []struct {
		name string
		open func(driver.Job) (*Workload, error)
		job  driver.Job
		says string
	}{
		{"connections", OpenTCP, job("goroutine", 0, 16, "connections", 0), "connections is 0, expected 1 to 4096"},
		{"in flight", OpenTCP, job("goroutine", 0, 16, "in_flight", "two"), "in_flight is two, expected a whole number"},
		{"threads", OpenTCP, job("goroutine", 0, 16, "threads", -1), "threads is -1"},
		{"payload", OpenTCP, job("goroutine", 0, 16, "payload_bytes", 7), "payload_bytes is 7, expected 8 to"},
		{"work", OpenTCP, job("goroutine", 0, 16, "work", -1), "work is -1"},
		{"batch", OpenTCP, job("goroutine", 0, 16, "in_flight", 16, "payload_bytes", 64<<10), "expected at most 262144 bytes"},
		{"part of a batch", OpenTCP, job("goroutine", 0, 17, "in_flight", 4), "expected a multiple of 4"},
		{"per sample", OpenTCP, with(job("goroutine", 0, 16, "in_flight", 4), func(j *driver.Job) { j.OperationsPerSample = 2 }), "a sample is 4"},
		{"work elsewhere", OpenTCP, with(job("goroutine", 0, 16, "work", 5), func(j *driver.Job) { j.Service = &driver.Service{Address: "127.0.0.1:1"} }), "expected 0 with the server"},
		{"arm", OpenTCP, job("baseline", 0, 16), `arm is "baseline"`},
		{"arm setting", OpenTCP, with(job("callback", 0, 16), func(j *driver.Job) { j.Settings["arm"] = "threads" }), `arm is "threads"`},
		{"http arm", OpenHTTP, job("callback", 0, 16), `arm is "callback", expected "goroutine"`},
		{"http work", OpenHTTP, job("goroutine", 0, 16, "work", 5), "does none"},
		{"http per sample", OpenHTTP, with(job("goroutine", 0, 16, "in_flight", 4), func(j *driver.Job) { j.OperationsPerSample = 1 }), "a sample is 4"},
		{"websocket arm", OpenWebSocket, job("coroutine", 0, 16), "expected \"goroutine\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := c.open(c.job)
			if err == nil {
				w.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("error is %q, expected %q in it", err, c.says)
			}
		})
	}
}

// Arms with names of their own say in a setting what they run.
func TestArmSetting(t *testing.T) {
	j := job("baseline", 0, 16)
	j.Settings["arm"] = "goroutine"
	w, err := OpenHTTP(j)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r, s := outcome(t, w)
	mustBeGood(t, j, r, s)
}

func TestComputedIsCompute(t *testing.T) {
	for _, n := range []int64{0, 1, 2, 3, 7, 64, 1000, 12345} {
		for _, x := range []uint64{0, 1, 1 << 63} {
			if got, want := computed(x, n), compute(x, n); got != want {
				t.Errorf("computed(%d, %d) = %#x, expected %#x", x, n, got, want)
			}
		}
	}
}

// A server that skips its work is found out.
func TestWorkLeftOut(t *testing.T) {
	s := newService(64, 10, 3)
	s.serve(640)
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	s.messages++
	if err := s.check(); err == nil {
		t.Error("a message without work was not found")
	}
}

func TestRecorder(t *testing.T) {
	r, err := newRecorder(4, true)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for _, s := range [][2]int64{{0, 10}, {5, 9}, {1, 30}, {2, 20}} {
		if !r.record(s[0], s[1]) {
			t.Fatalf("no room for %v", s)
		}
	}
	if r.record(7, 8) {
		t.Error("a fifth sample found room")
	}
	s := r.samples()
	if got, want := fmt.Sprint(s.StartNs, s.LatencyNs), "[5 0 2 1] [4 10 18 29]"; got != want {
		t.Errorf("samples are %s, expected %s", got, want)
	}
}
