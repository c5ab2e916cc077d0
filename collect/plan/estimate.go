package plan

import (
	"time"

	"pairbench/records"
)

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
	// OpenFiles is the largest number of descriptors that a process of a built-in
	// workload needs, MemoryBytes what collector, driver and services hold at
	// once, both about.
	OpenFiles, MemoryBytes int64
}

// What the guess of a fixed count's time rests on: rates that loopback clients
// reach with client and server on one processor. They decide nothing else.
const (
	processOverhead = 60 * time.Millisecond
	redisPerSec     = 25_000
	mysqlPerSec     = 8_000
)

// What the guess of descriptors and memory rests on.
const (
	otherFiles     = 64
	processMemory  = 64 << 20
	redisMemory    = 32 << 20
	mysqlMemory    = 512 << 20
	sampleBytes    = 24
	samplesPerSec  = 200_000 // of a cell that measures for a time
	connectionsKey = "connections"
)

// openFiles is what one process of the cell needs: its connections, both ends of
// them where the server is in the same process.
func (s Suite) openFiles(c Cell) int64 {
	if s.Workload == "command" {
		return 0
	}
	connections := int64(1)
	if f, ok := c.Factor(connectionsKey); ok && f.Kind == records.FactorInt {
		connections = f.Int
	}
	if s.Service == nil {
		connections *= 2
	}
	return connections + otherFiles
}

// memory is what driver and collector hold for the cell: each its own memory
// and all samples of a process.
func (s Suite) memory(c Cell) int64 {
	samples := c.Measure.Operations / max(c.OperationsPerSample, 1)
	if c.Measure.Duration > 0 {
		samples = int64(c.Measure.Duration.Seconds() * samplesPerSec)
	}
	return 2 * (processMemory + samples*sampleBytes)
}

func (s Service) memory() int64 {
	switch {
	case s.Mode == "external":
		return 0
	case s.Kind == "mysql":
		return mysqlMemory
	default:
		return redisMemory
	}
}

// Estimate adds up the plan.
func (p *Plan) Estimate() Estimate {
	e := Estimate{Suites: len(p.Suites)}
	services := map[string]int64{}
	for _, s := range p.Suites {
		if s.Service != nil {
			services[s.Service.Name] = s.Service.memory()
		}
		e.Cells += len(s.Cells)
		e.BusyThreads = max(e.BusyThreads, s.BusyThreads)
		for _, c := range s.Cells {
			n := 2 * p.Rounds
			e.OpenFiles = max(e.OpenFiles, s.openFiles(c))
			e.MemoryBytes = max(e.MemoryBytes, s.memory(c))
			times := time.Duration(n)
			e.Processes += n
			e.Operations += c.Measure.Operations * int64(n)
			e.WarmupOperations += c.Warmup.Operations * int64(n)
			e.Measured += c.Measure.Duration * times
			e.Warmup += c.Warmup.Duration * times
			e.Wall += times * s.Expected(c)
		}
	}
	for _, bytes := range services {
		e.MemoryBytes += bytes
	}
	return e
}

// guess is the time an amount takes: its own, or the count at the rate of the
// cell's cadence, which serves every outstanding request once a tick. A count of
// a command adds nothing: the guess is then the least it takes.
func (s Suite) guess(c Cell, a Amount) time.Duration {
	if a.Operations == 0 {
		return a.Duration
	}
	if s.Workload == "command" {
		return 0 // how much work an operation is, the plan does not say
	}
	samplesPerSec := float64(redisPerSec)
	if s.Workload == "mysql_text" {
		samplesPerSec = mysqlPerSec
	}
	if cadence, ok := c.Factor("cadence"); ok {
		if tick, err := time.ParseDuration(cadence.String()); err == nil && tick > 0 {
			outstanding := int64(1)
			if v, ok := c.Factor("outstanding"); ok && v.Int > 0 {
				outstanding = v.Int
			}
			samplesPerSec = min(samplesPerSec, float64(outstanding)*float64(time.Second)/float64(tick))
		}
	}
	return time.Duration(float64(a.Operations/c.OperationsPerSample) / samplesPerSec * float64(time.Second))
}

// Expected guesses the wall time of one process of a cell.
func (s Suite) Expected(c Cell) time.Duration {
	return processOverhead + s.guess(c, c.Measure) + s.guess(c, c.Warmup)
}
