package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pairbench/collect/driver"
	"pairbench/records"
)

// echoServer answers every eight bytes with themselves, save those numbers that
// it swallows.
func echoServer(t *testing.T, swallows func(op int64) bool) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				var b [8]byte
				for {
					if _, err := io.ReadFull(conn, b[:]); err != nil {
						return
					}
					if swallows != nil && swallows(int64(binary.LittleEndian.Uint64(b[:]))) {
						continue
					}
					if _, err := conn.Write(b[:]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// numbers is a workload whose request is its own number.
type numbers struct {
	address string
	// fail makes a request fail after its reply has come.
	fail   func(op int64) error
	opened atomic.Int64
	closed atomic.Int64
}

func (w *numbers) Open(no int, dial Dial) (Conn, error) {
	c, err := dial(context.Background(), "tcp", w.address)
	if err != nil {
		return nil, err
	}
	w.opened.Add(1)
	return &numberConn{w: w, conn: c}, nil
}

func (w *numbers) Describe(r *driver.Result) { r.Runtime["described"] = "yes" }

type numberConn struct {
	w    *numbers
	conn net.Conn
}

func (c *numberConn) Do(op int64) error {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(op))
	if _, err := c.conn.Write(b[:]); err != nil {
		return &LostError{err}
	}
	if _, err := io.ReadFull(c.conn, b[:]); err != nil {
		return &LostError{err}
	}
	if got := int64(binary.LittleEndian.Uint64(b[:])); got != op {
		return fmt.Errorf("reply %d to %d", got, op)
	}
	if c.w.fail != nil {
		return c.w.fail(op)
	}
	return nil
}

func (c *numberConn) Close() error {
	c.w.closed.Add(1)
	return c.conn.Close()
}

// measure carries a job out and returns what came of it.
func measure(t *testing.T, job driver.Job, w *numbers) (driver.Result, records.Samples) {
	t.Helper()
	e, err := Open(job, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.WarmUp(); err != nil {
		t.Fatal(err)
	}
	begun := 0
	if err := e.Measure(func() error { begun++; return nil }); err != nil {
		t.Fatal(err)
	}
	if begun != 1 {
		t.Errorf("begin was called %d times", begun)
	}
	result, samples := e.Result(), e.Samples()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if opened, closed := w.opened.Load(), w.closed.Load(); opened != closed {
		t.Errorf("%d connections opened, %d closed", opened, closed)
	}
	if result.Runtime["described"] != "yes" {
		t.Error("the workload was not asked to describe itself")
	}
	return result, samples
}

func testJob(arm string, factors, settings map[string]any) driver.Job {
	return driver.Job{
		Protocol: 1, ProcessNo: 7, Arm: arm, Factors: factors, Settings: settings, Seed: 1,
		Warmup: driver.Amount{Operations: 20}, Measure: driver.Amount{Operations: 300},
	}
}

var arms = []string{ArmCallback, ArmCoroutine, ArmGoroutine}

// variants are the arms with the ways of doing IO that they have.
func variants() []driver.Job {
	var jobs []driver.Job
	for _, arm := range arms {
		jobs = append(jobs, testJob(arm, nil, map[string]any{}))
		if arm != ArmGoroutine {
			jobs = append(jobs, testJob(arm, nil, map[string]any{"io": "inline"}),
				testJob(arm, nil, map[string]any{"io": "inline", "idle": "wait"}))
		}
	}
	return jobs
}

func eachVariant(t *testing.T, f func(t *testing.T, job driver.Job)) {
	for _, job := range variants() {
		t.Run(fmt.Sprintf("%s %v", job.Arm, job.Settings), func(t *testing.T) { f(t, job) })
	}
}

func checkOK(t *testing.T, job driver.Job, r driver.Result, s records.Samples) {
	t.Helper()
	if outcome, detail := driver.Check(job, r, &s, driver.Observed{}); outcome != records.OutcomeOK {
		t.Errorf("%s: %s", outcome, detail)
	}
	if s.ProcessNo != job.ProcessNo {
		t.Errorf("samples of process %d, expected %d", s.ProcessNo, job.ProcessNo)
	}
}

func TestClosedLoop(t *testing.T) {
	address := echoServer(t, nil)
	eachVariant(t, func(t *testing.T, job driver.Job) {
		for _, load := range [][2]int{{1, 1}, {1, 4}, {4, 4}, {4, 16}, {3, 1}} {
			job.Factors = map[string]any{"connections": load[0], "outstanding": load[1]}
			r, s := measure(t, job, &numbers{address: address})
			checkOK(t, job, r, s)
			if most := mostInFlight(s); most > load[1] {
				t.Errorf("%v: %d requests were in flight at once", load, most)
			}
			if r.MissedTicks != nil {
				t.Error("missed ticks are counted without ticks")
			}
		}
	})
}

// mostInFlight is the largest number of samples that overlap.
func mostInFlight(s records.Samples) int {
	most := 0
	for i := range s.Len() {
		n := 0
		for j := i; j < s.Len(); j++ {
			if s.StartNs[j] < s.StartNs[i]+s.LatencyNs[i] {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func TestDuration(t *testing.T) {
	address := echoServer(t, nil)
	eachVariant(t, func(t *testing.T, job driver.Job) {
		job.Factors = map[string]any{"connections": 2, "outstanding": 4}
		job.Warmup = driver.Amount{DurationNs: 5e6}
		job.Measure = driver.Amount{DurationNs: 30e6}
		r, s := measure(t, job, &numbers{address: address})
		checkOK(t, job, r, s)
		for i, start := range s.StartNs {
			if start > job.Measure.DurationNs+5e9 {
				t.Fatalf("sample %d starts at %d, long after the interval", i, start)
			}
		}
	})
}

func TestTicks(t *testing.T) {
	address := echoServer(t, nil)
	eachVariant(t, func(t *testing.T, job driver.Job) {
		job.Factors = map[string]any{"connections": 2, "outstanding": 4, "cadence": "1ms"}
		job.Warmup = driver.Amount{}
		job.Measure = driver.Amount{Operations: 40}
		r, s := measure(t, job, &numbers{address: address})
		checkOK(t, job, r, s)
		if r.MissedTicks == nil {
			t.Fatal("missed ticks are not counted")
		}
		// The owner learns of a reply at a tick, so that 40 requests of 4 at a time
		// take 10 ticks at least, and no delivery lies before the first.
		if r.ElapsedNs < 10e6 {
			t.Errorf("10 ticks took %d ns", r.ElapsedNs)
		}
		for i := range s.Len() {
			if end := s.StartNs[i] + s.LatencyNs[i]; end < 1e6 {
				t.Errorf("sample %d was delivered at %d ns, before the first tick", i, end)
			}
		}
	})
}

func TestOpenLoop(t *testing.T) {
	address := echoServer(t, nil)
	for _, arrival := range []string{"constant", "poisson"} {
		for _, cadence := range []string{"continuous", "1ms"} {
			eachVariant(t, func(t *testing.T, job driver.Job) {
				job.Factors = map[string]any{"connections": 2, "outstanding": 8, "cadence": cadence}
				job.Settings["arrival"] = arrival
				job.Settings["rate_per_sec"] = 5000
				job.Measure = driver.Amount{Operations: 100}
				r, s := measure(t, job, &numbers{address: address})
				checkOK(t, job, r, s)
				if len(s.ScheduledNs) != 100 {
					t.Fatalf("%d scheduled offsets, expected 100", len(s.ScheduledNs))
				}
				if r.Runtime["arrival"] != arrival {
					t.Errorf("arrival is recorded as %q", r.Runtime["arrival"])
				}
				want := schedule(job, 100)
				for _, at := range s.ScheduledNs {
					if want[at] == 0 {
						t.Fatalf("a request was scheduled at %d, which the seed does not give", at)
					}
					want[at]--
				}
			})
		}
	}
}

// schedule counts the instants at which a job's requests should start.
func schedule(job driver.Job, n int) map[int64]int {
	c, err := ParseConfig(job)
	if err != nil {
		panic(err)
	}
	at := map[int64]int{}
	for a := newArrivals(c); n > 0; n-- {
		at[a.at]++
		a.advance()
	}
	return at
}

func TestFailedRequestsAreCounted(t *testing.T) {
	address := echoServer(t, nil)
	eachVariant(t, func(t *testing.T, job driver.Job) {
		job.Factors = map[string]any{"connections": 2, "outstanding": 4}
		// Numbers 0 to 19 are the warm-up, 20 to 319 measured.
		r, s := measure(t, job, &numbers{address: address, fail: func(op int64) error {
			if op%10 == 3 {
				return fmt.Errorf("request %d is wrong", op)
			}
			return nil
		}})
		if r.WarmupErrors != 2 || r.WarmupOperations != 18 || r.Errors != 30 || r.MeasuredOperations != 270 || s.Len() != 270 || r.Incomplete != 0 {
			t.Errorf("counted %+v with %d samples", r, s.Len())
		}
		if !strings.HasSuffix(r.FirstError, "3 is wrong") {
			t.Errorf("first error is %q", r.FirstError)
		}
	})
}

func TestLostConnections(t *testing.T) {
	address := echoServer(t, nil)
	eachVariant(t, func(t *testing.T, job driver.Job) {
		job.Factors = map[string]any{"connections": 2, "outstanding": 6}
		r, _ := measure(t, job, &numbers{address: address, fail: func(op int64) error {
			if op == 50 || op == 60 {
				return &LostError{errors.New("connection is gone")}
			}
			return nil
		}})
		// Both connections are gone, so that nothing else can succeed.
		if r.Errors+r.MeasuredOperations != 300 || r.MeasuredOperations > 50 || r.Errors < 250 {
			t.Errorf("counted %+v", r)
		}
		if r.FirstError != "connection is gone" {
			t.Errorf("first error is %q", r.FirstError)
		}
	})
}

func TestErrorsEndTheRun(t *testing.T) {
	address := echoServer(t, nil)
	eachVariant(t, func(t *testing.T, job driver.Job) {
		job.Measure = driver.Amount{Operations: 1 << 40}
		job.Warmup = driver.Amount{}
		w := &numbers{address: address, fail: func(int64) error { return errors.New("wrong") }}
		job.Measure.Operations = 1 << 16
		r, _ := measure(t, job, w)
		if r.Errors < mostErrors || r.Errors > 2*mostErrors {
			t.Errorf("%d errors, expected the run to end at %d", r.Errors, mostErrors)
		}
	})
}

func TestStuckRequestsAreIncomplete(t *testing.T) {
	address := echoServer(t, func(op int64) bool { return op == 100 })
	for _, cadence := range []string{"continuous", "1ms"} {
		eachVariant(t, func(t *testing.T, job driver.Job) {
			job.Factors = map[string]any{"connections": 1, "outstanding": 3, "cadence": cadence}
			job.Settings["request_limit_ms"] = 50
			r, s := measure(t, job, &numbers{address: address})
			if r.Incomplete != 3 || r.MeasuredOperations < 77 || r.MeasuredOperations > 83 || s.Len() != int(r.MeasuredOperations) || r.Errors != 0 {
				t.Errorf("counted %+v with %d samples", r, s.Len())
			}
			if r.FirstError != "no reply within 50ms" {
				t.Errorf("first error is %q", r.FirstError)
			}
		})
	}
}

func TestStuckWarmup(t *testing.T) {
	address := echoServer(t, func(op int64) bool { return op == 5 })
	eachVariant(t, func(t *testing.T, job driver.Job) {
		job.Settings["request_limit_ms"] = 50
		r, _ := measure(t, job, &numbers{address: address})
		if r.WarmupErrors != 1 || r.MeasuredOperations != 0 {
			t.Errorf("counted %+v", r)
		}
	})
}

func TestServiceRefuses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	eachVariant(t, func(t *testing.T, job driver.Job) {
		_, err := Open(job, &numbers{address: listener.Addr().String()})
		if err == nil || !strings.Contains(err.Error(), "connect 1 of 1: dial tcp") {
			t.Errorf("got %v", err)
		}
	})
}

func TestBeginFails(t *testing.T) {
	address := echoServer(t, nil)
	gone := errors.New("collector is gone")
	eachVariant(t, func(t *testing.T, job driver.Job) {
		e, err := Open(job, &numbers{address: address})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.WarmUp(); err != nil {
			t.Fatal(err)
		}
		if err := e.Measure(func() error { return gone }); !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
	})
}

// TestManySlowWrites fills the socket, so that Write has to suspend.
func TestManySlowWrites(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	for _, io := range []string{"separate", "inline"} {
		job := testJob(ArmCallback, nil, map[string]any{"io": io})
		job.Warmup, job.Measure = driver.Amount{}, driver.Amount{Operations: 3}
		e, err := Open(job, bulk{listener.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(e.WarmUp(), e.Measure(func() error { return nil })); err != nil {
			t.Fatal(err)
		}
		r, s := e.Result(), e.Samples()
		checkOK(t, job, r, s)
		e.Close()
	}
}

// bulk sends more than sockets hold, in pieces that the peer sends back.
type bulk struct{ address string }

func (w bulk) Open(_ int, dial Dial) (Conn, error) {
	c, err := dial(context.Background(), "tcp", w.address)
	return bulkConn{c}, err
}

func (w bulk) Describe(*driver.Result) {}

type bulkConn struct{ net.Conn }

func (c bulkConn) Do(op int64) error {
	const size = 2 << 20
	b := make([]byte, size)
	b[size-1] = byte(op)
	if _, err := c.Write(b); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	if b[size-1] != byte(op) {
		return fmt.Errorf("last byte is %d, expected %d", b[size-1], op)
	}
	return nil
}

func TestParseConfigRefuses(t *testing.T) {
	for _, c := range []struct {
		arm      string
		factors  map[string]any
		settings map[string]any
		want     string
	}{
		{"future", nil, nil, `arm is "future"`},
		{"A", nil, map[string]any{"arm": "thread"}, `arm is "thread"`},
		{ArmCallback, map[string]any{"connections": 0}, nil, "connections is 0"},
		{ArmCallback, map[string]any{"connections": 1.5}, nil, "connections is 1.5, expected a whole number"},
		{ArmCallback, map[string]any{"outstanding": -1}, nil, "outstanding is -1"},
		{ArmCallback, map[string]any{"cadence": "sometimes"}, nil, `cadence is "sometimes"`},
		{ArmCallback, map[string]any{"cadence": "1ns"}, nil, `cadence is "1ns"`},
		{ArmCallback, nil, map[string]any{"io": "uring"}, `io is "uring"`},
		{ArmCallback, nil, map[string]any{"io": "inline", "idle": "sleep"}, `idle is "sleep"`},
		{ArmCallback, nil, map[string]any{"idle": "wait"}, "idle is wait, which needs io inline"},
		{ArmCallback, nil, map[string]any{"arrival": "poisson"}, "rate_per_sec is 0"},
		{ArmCallback, nil, map[string]any{"arrival": "bursts"}, `arrival is "bursts"`},
		{ArmCallback, nil, map[string]any{"request_limit_ms": 0}, "request_limit_ms is 0"},
	} {
		job := testJob(c.arm, c.factors, c.settings)
		if _, err := ParseConfig(job); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v: got %v, want %q", c.factors, c.settings, err, c.want)
		}
	}
	job := testJob("reference", nil, map[string]any{"arm": "coroutine"})
	if c, err := ParseConfig(job); err != nil || c.Arm != ArmCoroutine || c.RequestLimit != 5*time.Second {
		t.Errorf("got %+v, %v", c, err)
	}
}
