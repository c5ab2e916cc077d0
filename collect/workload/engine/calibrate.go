package engine

import (
	"runtime"
	"time"

	"pairbench/collect/driver"
)

// Calibration says what measuring itself costs on this machine, in nanoseconds
// for one of each. Every value is the median of repeated blocks.
type Calibration struct {
	// ClockReadNs is one read of the monotonic clock, ClockTickNs its smallest
	// step.
	ClockReadNs float64 `json:"clock_read_ns"`
	ClockTickNs int64   `json:"clock_tick_ns"`
	// SampleRecordNs is settling and recording one sample, its two clock reads
	// included; SampleRecordAllocs the allocations that go with it.
	SampleRecordNs     float64 `json:"sample_record_ns"`
	SampleRecordAllocs float64 `json:"sample_record_allocs"`
	// EmptyRequestNs is a request without any IO through the owner loop: issue,
	// both rings, delivery, record; in each arm of the owner.
	EmptyRequestCallbackNs  float64 `json:"empty_request_callback_ns"`
	EmptyRequestCoroutineNs float64 `json:"empty_request_coroutine_ns"`
}

const (
	calibrationBlocks = 9
	calibrationCount  = 20_000
)

// Calibrate measures a Calibration; it takes some tens of milliseconds.
func Calibrate() Calibration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := Calibration{ClockTickNs: clockTick()}
	k := newClock()
	var sink int64
	c.ClockReadNs = perCall(func(n int) {
		for range n {
			sink += k.now()
		}
	})
	e := &Engine{clock: k, config: Config{Outstanding: 1, PerSample: 1}, requests: make([]request, 1)}
	p := e.newPhase(driver.Amount{Operations: 1 << 40}, &e.measured)
	p.recorder = newRecorder(calibrationCount, false)
	record := func(n int) {
		p.recorder.reset()
		r := &e.requests[0]
		for range n {
			p.stamp(r)
			p.settle(r)
		}
	}
	c.SampleRecordNs = perCall(record)
	c.SampleRecordAllocs = allocations(record)
	c.EmptyRequestCallbackNs = emptyRequest(ArmCallback)
	c.EmptyRequestCoroutineNs = emptyRequest(ArmCoroutine)
	return c
}

// perCall returns the median time of one of n repetitions.
func perCall(f func(n int)) float64 {
	f(calibrationCount)
	var blocks [calibrationBlocks]float64
	for i := range blocks {
		start := time.Now()
		f(calibrationCount)
		blocks[i] = float64(time.Since(start)) / calibrationCount
	}
	return median(blocks)
}

func median(v [calibrationBlocks]float64) float64 {
	for i := range v {
		for j := i; j > 0 && v[j] < v[j-1]; j-- {
			v[j], v[j-1] = v[j-1], v[j]
		}
	}
	return v[len(v)/2]
}

// allocations returns how often one repetition allocates.
func allocations(f func(n int)) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f(calibrationCount)
	runtime.ReadMemStats(&after)
	return float64((after.Mallocs - before.Mallocs) / calibrationCount)
}
