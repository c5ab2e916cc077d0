package engine

import "time"

// clock reads the monotonic time since base, in nanoseconds.
type clock struct{ base time.Time }

func newClock() clock { return clock{time.Now()} }

func (c clock) now() int64 { return int64(time.Since(c.base)) }

// clockTick returns the smallest step seen on the clock, in nanoseconds.
func clockTick() int64 {
	c := newClock()
	smallest := int64(1 << 62)
	last := c.now()
	for range 2000 {
		now := c.now()
		if step := now - last; step > 0 && step < smallest {
			smallest = step
		}
		last = now
	}
	return smallest
}

// ProcessCPU returns the CPU time of the process so far, in nanoseconds; nil
// where the system does not tell.
func ProcessCPU() *int64 {
	if ns, ok := processCPUNs(); ok {
		return &ns
	}
	return nil
}
