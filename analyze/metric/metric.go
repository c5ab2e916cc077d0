package metric

import (
	"math/big"

	"pairbench/records"
)

// The units of metrics, as reports and tables name them.
const (
	PerSec = "per_sec"
	Pct    = "pct" // of one logical core
	Ns     = "ns"
	Bytes  = "bytes"
)

// The directions that are better.
const (
	Higher  = "higher"
	Lower   = "lower"
	Neither = "neither"
)

// The ids of metrics.
const (
	RunTime       = "run_time"
	Throughput    = "throughput"
	CPU           = "cpu"
	LatencyP50    = "latency_p50"
	LatencyP90    = "latency_p90"
	LatencyP99    = "latency_p99"
	LatencyP999   = "latency_p999"
	LatencyMax    = "latency_max"
	ResponseP50   = "response_p50"
	ResponseP99   = "response_p99"
	PeakRSS       = "peak_rss"
	CPUEfficiency = "cpu_efficiency"
)

// Latency holds the nearest-rank percentiles of one process, in nanoseconds;
// nil is absent. Where requests had a schedule, the response time counts from
// the scheduled start and so includes the wait that a late start hides.
type Latency struct {
	P50, P90, P99, P999, Max *int64
	ResponseP50, ResponseP99 *int64
}

// Stated returns the percentiles that the process itself, or an imported file,
// states: what a process without samples has.
func Stated(p *records.Process) Latency {
	return Latency{P50: p.StatedLatencyP50Ns, P99: p.StatedLatencyP99Ns}
}

// Process is one process with the percentiles of its own samples.
type Process struct {
	Record  *records.Process
	Latency Latency
}

// Metric is one column of a comparison.
type Metric struct {
	ID, Unit, Better string
	value            func(Process) *big.Rat
}

// Value returns the metric of one process in its unit, exact, or nil where the
// process lacks what the formula needs. The result is the caller's.
func (m Metric) Value(p Process) *big.Rat { return m.value(p) }

// All returns every metric in the order of tables and reports.
func All() []Metric {
	latency := func(of func(Latency) *int64) func(Process) *big.Rat {
		return func(p Process) *big.Rat { return integer(of(p.Latency)) }
	}
	return []Metric{
		{RunTime, Ns, Lower, runTime},
		{Throughput, PerSec, Higher, throughput},
		{CPU, Pct, Neither, cpu},
		{LatencyP50, Ns, Lower, latency(func(l Latency) *int64 { return l.P50 })},
		{LatencyP90, Ns, Lower, latency(func(l Latency) *int64 { return l.P90 })},
		{LatencyP99, Ns, Lower, latency(func(l Latency) *int64 { return l.P99 })},
		{LatencyP999, Ns, Lower, latency(func(l Latency) *int64 { return l.P999 })},
		{LatencyMax, Ns, Lower, latency(func(l Latency) *int64 { return l.Max })},
		{ResponseP50, Ns, Lower, latency(func(l Latency) *int64 { return l.ResponseP50 })},
		{ResponseP99, Ns, Lower, latency(func(l Latency) *int64 { return l.ResponseP99 })},
		{PeakRSS, Bytes, Lower, func(p Process) *big.Rat { return integer(p.Record.PeakRSSBytes) }},
		{CPUEfficiency, PerSec, Higher, cpuEfficiency},
	}
}

// ByID returns the metric with the id; ok is false for an unknown one.
func ByID(id string) (m Metric, ok bool) {
	for _, m := range All() {
		if m.ID == id {
			return m, true
		}
	}
	return Metric{}, false
}

// Default returns the ids that a suite shows, where it has values, when its
// plan names none.
func Default(profile string) []string {
	ids := []string{RunTime, Throughput, CPU, LatencyP50, ResponseP50, LatencyP99, ResponseP99, PeakRSS}
	if profile == "release" {
		ids = append(ids, CPUEfficiency)
	}
	return ids
}

// runTime is the measured interval of a process that did one operation: of a
// program that is not asked more than to run. Its rate would say the same in a
// form that hides it, 0.1 a second for a run of ten.
func runTime(p Process) *big.Rat {
	if n := p.Record.MeasuredOperations; n == nil || *n != 1 {
		return nil
	}
	return integer(p.Record.ElapsedNs)
}

// throughput is measured operations per second of the measured interval, or the
// rate that an imported file states.
func throughput(p Process) *big.Rat {
	if stated := integer(p.Record.StatedThroughputMicroPerSec); stated != nil {
		return stated.Quo(stated, big.NewRat(1e6, 1))
	}
	return ratio(p.Record.MeasuredOperations, p.Record.ElapsedNs, 1e9)
}

// cpu is CPU time over the wall time of the same span; 100 is one logical core.
func cpu(p Process) *big.Rat {
	return ratio(p.Record.CPUNs, cpuWall(p.Record), 100)
}

// cpuWall is the wall time of the span that cpu_ns covers. A record that does
// not say it has, by definition of the scope, the measured interval's or the
// process's; without a scope the interval is what CPU time was taken over.
func cpuWall(r *records.Process) *int64 {
	switch {
	case r.CPUWallNs != nil:
		return r.CPUWallNs
	case r.CPUScope != nil && *r.CPUScope == records.CPUScopeProcess:
		return r.ProcessWallNs
	default:
		return r.ElapsedNs
	}
}

// cpuEfficiency is operations per second and core: throughput / (CPU % / 100).
func cpuEfficiency(p Process) *big.Rat {
	rate, load := throughput(p), cpu(p)
	if rate == nil || load == nil || load.Sign() == 0 {
		return nil
	}
	rate.Mul(rate, big.NewRat(100, 1))
	return rate.Quo(rate, load)
}

func integer(v *int64) *big.Rat {
	if v == nil || *v < 0 {
		return nil
	}
	return new(big.Rat).SetInt64(*v)
}

func ratio(num, den *int64, scale int64) *big.Rat {
	if num == nil || den == nil || *num < 0 || *den <= 0 {
		return nil
	}
	r := new(big.Rat).SetFrac64(*num, *den)
	return r.Mul(r, new(big.Rat).SetInt64(scale))
}
