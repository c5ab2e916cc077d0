package echo

import (
	"cmp"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"pairbench/collect/driver"
	"pairbench/collect/workload/engine"
	"pairbench/records"
)

// Workload is an open echo workload: connected, its memory touched, nothing in
// flight. Its methods are called from one goroutine: Warmup, then Measure, then
// Close.
type Workload struct {
	job       driver.Job
	params    params
	perSample int64
	pool      pool
	recorder  *recorder
	warm      *phase
	procs     int
	stall     time.Duration
	result    driver.Result
	samples   records.Samples
}

// pool is all connections of a workload in one arm's way, and the server's side
// of them where it is in this process.
type pool interface {
	// run has every connection send until p has no more permits. Nothing runs
	// when it returns. When nothing is delivered for as long as stall, it ends
	// early: what is in flight is lost, and its connections with it.
	run(p *phase, stall time.Duration)
	// check reports work that the server left out.
	check() error
	// describe adds how the connections are served to the runtime settings.
	describe(runtime map[string]string)
	close()
}

// newWorkload owns conns, also when it fails.
func newWorkload(job driver.Job, p params, conns pool) (_ *Workload, err error) {
	defer func() {
		if err != nil {
			conns.close()
		}
	}()
	perSample := int64(p.inFlight)
	if err := checkPerSample(job, perSample); err != nil {
		return nil, err
	}
	memory, err := sampleMemory(job.Measure, perSample)
	if err != nil {
		return nil, err
	}
	return &Workload{
		job: job, params: p, perSample: perSample, pool: conns, recorder: memory,
		procs: runtime.GOMAXPROCS(p.threads), stall: p.stall,
	}, nil
}

// checkPerSample compares what the plan says of a sample with what it is.
func checkPerSample(job driver.Job, want int64) error {
	if job.OperationsPerSample != 0 && job.OperationsPerSample != want {
		return fmt.Errorf("operations_per_sample is %d, a sample is %d", job.OperationsPerSample, want)
	}
	for _, amount := range []driver.Amount{job.Warmup, job.Measure} {
		if amount.Operations%want != 0 {
			return fmt.Errorf("%d operations, expected a multiple of %d: a sample is that many", amount.Operations, want)
		}
	}
	return nil
}

// sampleMemory returns memory for the samples of a measurement. For a duration
// it depends on the job alone, never on how fast an arm is, so that it is the
// same for both sides of a pair.
func sampleMemory(measure driver.Amount, perSample int64) (*recorder, error) {
	if measure.Operations > 0 {
		return newRecorder(measure.Operations/perSample, true)
	}
	const manyPerSecond, fewPerSecond = 200_000, 50_000
	rate := max(manyPerSecond/perSample, fewPerSecond)
	seconds := measure.DurationNs/int64(time.Second) + 1
	return newRecorder(rate*seconds, false)
}

// WarmUp runs the job's warm-up. Operations that fail in it are counted in the
// result; an error means that nothing can be measured.
func (w *Workload) WarmUp() error {
	w.warm = newPhase(w.job.Warmup, w.perSample, nil)
	if w.job.Warmup == (driver.Amount{}) {
		return nil
	}
	return w.run(w.warm)
}

// Measure runs the measured interval; begin is called directly before it.
func (w *Workload) Measure(begin func() error) error {
	// The heap is at rest, whatever the warm-up left.
	runtime.GC()
	if err := begin(); err != nil {
		return err
	}
	p := newPhase(w.job.Measure, w.perSample, w.recorder)
	from := engine.ProcessCPU()
	if err := w.run(p); err != nil {
		return err
	}
	if to := engine.ProcessCPU(); from != nil && to != nil {
		*to -= *from
		w.result.CPUIntervalNs = to
	}
	w.describe(p)
	return nil
}

func (w *Workload) run(p *phase) error {
	p.begin()
	w.pool.run(p, w.stall)
	p.loseRest()
	return w.pool.check()
}

func (w *Workload) describe(p *phase) {
	w.samples = w.recorder.samples()
	w.samples.ProcessNo = w.job.ProcessNo
	r := &w.result
	r.MeasuredOperations = p.delivered.Load() * w.perSample
	r.WarmupOperations = w.warm.delivered.Load() * w.perSample
	r.Errors = p.errors.Load()
	r.Incomplete = p.lost.Load()
	r.WarmupErrors = w.warm.errors.Load() + w.warm.lost.Load()
	r.Samples = int64(w.samples.Len())
	r.ClockTickNs = clockTick()
	if n := w.samples.Len(); n > 0 {
		r.ElapsedNs = w.samples.StartNs[n-1] + w.samples.LatencyNs[n-1]
	} else {
		r.ElapsedNs = p.now()
	}
	if first := cmp.Or(w.warm.first, p.first); first != nil {
		r.FirstError = first.Error()
	}
	r.Runtime = map[string]string{
		"arm":                    w.params.arm,
		"threads":                strconv.Itoa(w.params.threads),
		"gomaxprocs":             strconv.Itoa(runtime.GOMAXPROCS(0)),
		"sample_memory_exceeded": strconv.FormatBool(w.samples.Len() > w.recorder.expected),
	}
	w.pool.describe(r.Runtime)
}

// Result says what was counted in warm-up and measurement.
func (w *Workload) Result() driver.Result { return w.result }

// Samples returns what was measured, in the order of completion; the columns are
// valid until Close.
func (w *Workload) Samples() records.Samples { return w.samples }

// Close ends all connections and the server in this process.
func (w *Workload) Close() error {
	w.pool.close()
	w.recorder.close()
	runtime.GOMAXPROCS(w.procs)
	return nil
}
