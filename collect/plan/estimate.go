package plan

import "time"

// Estimate is what a plan asks of a machine.
type Estimate struct {
	Suites, Cells, Processes int
	// Operations and WarmupOperations are totals of the fixed counts; cells that
	// measure for a time add to neither.
	Operations, WarmupOperations int64
	// Measured and Warmup are totals of the fixed times.
	Measured, Warmup time.Duration
	// Wall is a guess of the whole: times as planned, counts at the rates below.
	Wall time.Duration
	// BusyThreads is the largest number of threads that any suite keeps busy; 0
	// is unknown.
	BusyThreads int
}

// Rates for the guess of a fixed count's time, a little below what loopback
// clients reach; they decide nothing but the estimate.
const (
	processOverhead    = 60 * time.Millisecond
	continuousPerSec   = 15_000
	operationsPerTick  = 1
	cadenceFactor      = "cadence"
	outstandingFactor  = "outstanding"
	connectionsFactor  = "connections"
	continuousConstant = "continuous"
)

// Estimate adds up the plan.
func (p *Plan) Estimate() Estimate {
	e := Estimate{Suites: len(p.Suites)}
	for _, s := range p.Suites {
		e.Cells += len(s.Cells)
		e.BusyThreads = max(e.BusyThreads, s.BusyThreads)
		for _, c := range s.Cells {
			n := 2 * p.Rounds
			times := time.Duration(n)
			e.Processes += n
			e.Operations += c.Measure.Operations * int64(n)
			e.WarmupOperations += c.Warmup.Operations * int64(n)
			e.Measured += c.Measure.Duration * times
			e.Warmup += c.Warmup.Duration * times
			e.Wall += times * (processOverhead + c.guess(c.Measure) + c.guess(c.Warmup))
		}
	}
	return e
}

// guess is the time an amount takes: its own, or the count at the rate of the
// cell's cadence.
func (c Cell) guess(a Amount) time.Duration {
	if a.Operations == 0 {
		return a.Duration
	}
	perSec := float64(continuousPerSec * c.OperationsPerSample)
	if v, ok := c.Factor(cadenceFactor); ok && v.String() != continuousConstant {
		if tick, err := time.ParseDuration(v.String()); err == nil && tick > 0 {
			inFlight := int64(operationsPerTick)
			for _, name := range []string{outstandingFactor, connectionsFactor} {
				if w, ok := c.Factor(name); ok && w.Int > 0 && (inFlight == operationsPerTick || w.Int < inFlight) {
					inFlight = w.Int
				}
			}
			perSec = min(perSec, float64(inFlight)*float64(time.Second)/float64(tick))
		}
	}
	return time.Duration(float64(a.Operations) / perSec * float64(time.Second))
}
