package engine

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"pairbench/collect/driver"
	"pairbench/records"
)

// mostErrors ends a phase: what is broken need not be proved for ever.
const mostErrors = 1000

// openLimit bounds connecting the whole pool.
const openLimit = 30 * time.Second

var errNoConnection = errors.New("no usable connection is left")

// request is one request in flight, or a place for one.
type request struct {
	op        int64
	start     int64
	scheduled int64
	err       error
	busy      bool
}

// Engine carries out a job on a pool of connections. It is a Work.
type Engine struct {
	config   Config
	workload Workload
	job      driver.Job
	clock    clock
	requests []request
	// Rings between owner and IO.
	submissions *ring
	completions *ring
	io          carrier

	nextOp   int64
	warm     counts
	measured counts
	recorder *recorder
	result   driver.Result
	first    error
	stuck    bool
}

// carrier runs requests on connections: the IO loop, or a channel of leases for
// the goroutine arm.
type carrier interface {
	// phase runs requests until the plan is carried out or nothing moves.
	phase(p *phase)
	close() error
	// describe names the carrier in the result's runtime settings.
	describe(runtime map[string]string)
}

// counts is what one phase counted. Samples, not operations.
type counts struct {
	issued, done, errors int64
	incomplete           int64
	missedTicks          int64
}

// Open connects the pool of a job's workload. It locks the calling goroutine to
// its thread until Close, and all methods of what it returns must be called from
// that goroutine.
func Open(job driver.Job, w Workload) (*Engine, error) {
	config, err := ParseConfig(job)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		config: config, workload: w, job: job, clock: newClock(),
		requests:    make([]request, config.Outstanding),
		submissions: newRing(config.Outstanding),
		completions: newRing(config.Outstanding),
	}
	runtime.LockOSThread()
	if config.Arm == ArmGoroutine {
		e.io, err = openGoroutines(e)
	} else {
		e.io, err = openOwner(e)
	}
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return e, nil
}

// WarmUp implements Work. It also makes the memory for the samples.
func (e *Engine) WarmUp() error {
	p := e.newPhase(e.config.Warmup, &e.warm)
	if e.config.Warmup != (driver.Amount{}) {
		e.io.phase(p)
	}
	e.recorder = newRecorder(e.sampleCapacity(), e.config.Arrival != ArrivalClosed)
	return nil
}

// sampleCapacity is exact for a fixed count. For a duration it depends on the
// job alone, never on how fast an arm is, so that both sides of a pair hold the
// same memory; it is meant to be more than is ever needed.
func (e *Engine) sampleCapacity() int {
	const closedLoopRate, most = 250_000, 64 << 20
	m := e.config.Measure
	if m.Operations > 0 {
		return int(min(m.Operations/e.config.PerSample, most))
	}
	rate := float64(closedLoopRate) / float64(min(e.config.PerSample, 16))
	if e.config.Arrival != ArrivalClosed {
		rate = 1.1 * e.config.RatePerSec
	}
	return int(min(rate*float64(m.DurationNs)/1e9+1024, most))
}

// Measure implements Work.
func (e *Engine) Measure(begin func() error) error {
	p := e.newPhase(e.config.Measure, &e.measured)
	p.recorder = e.recorder
	p.begin = begin
	e.io.phase(p)
	if p.beginErr != nil {
		return p.beginErr
	}
	e.fill(p)
	return nil
}

func (e *Engine) fill(p *phase) {
	per := e.config.PerSample
	e.result = driver.Result{
		MeasuredOperations: (e.measured.done - e.measured.errors) * per,
		WarmupOperations:   (e.warm.done - e.warm.errors) * per,
		Errors:             e.measured.errors * per,
		Incomplete:         e.measured.incomplete * per,
		WarmupErrors:       (e.warm.errors + e.warm.incomplete) * per,
		ElapsedNs:          p.elapsed(),
		CPUIntervalNs:      p.cpu,
		Samples:            int64(len(e.recorder.latency)),
		ClockTickNs:        clockTick(),
		Runtime:            map[string]string{},
		Versions:           map[string]string{},
	}
	if e.config.Tick > 0 {
		e.result.MissedTicks = &e.measured.missedTicks
	}
	if e.first != nil {
		e.result.FirstError = cut(e.first.Error())
	}
	e.io.describe(e.result.Runtime)
	e.result.Runtime["arm"] = e.config.Arm
	e.result.Runtime["sample_memory_exceeded"] = strconv.FormatBool(e.recorder.exceeded)
	if e.config.Arrival != ArrivalClosed {
		e.result.Runtime["arrival"] = string(e.config.Arrival)
		e.result.Runtime["rate_per_sec"] = strconv.FormatFloat(e.config.RatePerSec, 'g', -1, 64)
	}
	e.workload.Describe(&e.result)
}

// cut keeps a message's text short; what follows a reply may be long.
func cut(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// Result implements Work.
func (e *Engine) Result() driver.Result { return e.result }

// Samples implements Work.
func (e *Engine) Samples() records.Samples { return e.recorder.samples(e.job.ProcessNo) }

// Close implements Work.
func (e *Engine) Close() error {
	defer runtime.UnlockOSThread()
	if err := e.io.close(); err != nil {
		return fmt.Errorf("disconnect: %w", err)
	}
	return nil
}

// isLost tells whether the error took the connection with it.
func isLost(err error) bool {
	var lost *LostError
	return errors.As(err, &lost)
}
