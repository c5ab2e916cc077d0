package hostinfo

import (
	"slices"
	"strconv"
	"time"

	"pairbench/records"
)

// Calibrate measures this program's monotonic clock, which is the drivers' clock
// too: what a reading costs and how fine its steps are. It takes a few
// milliseconds of one processor.
func Calibrate() []records.HostFact {
	c := &collector{}
	const source = "measured at the start of the collection"
	base := time.Now()

	const batches, reads = 101, 500
	costs := make([]int64, batches)
	var sink time.Duration
	for i := range costs {
		start := time.Since(base)
		for range reads {
			sink = time.Since(base)
		}
		costs[i] = int64(sink - start)
	}
	slices.Sort(costs)
	// Tenths of a nanosecond, rounded half up.
	tenths := (costs[batches/2]*10 + reads/2) / reads
	c.add("calibration.clock_read_ns", strconv.FormatInt(tenths/10, 10)+"."+strconv.FormatInt(tenths%10, 10), "ns", source)

	const wanted = 2001
	steps := make([]int64, 0, wanted)
	last := time.Since(base)
	for try := 0; len(steps) < wanted && try < 100*wanted; try++ {
		now := time.Since(base)
		if now != last {
			steps = append(steps, int64(now-last))
			last = now
		}
	}
	if len(steps) == 0 {
		c.absent("calibration.clock_tick_ns", source, "the clock did not move")
		c.absent("calibration.clock_step_ns", source, "the clock did not move")
		return c.facts
	}
	slices.Sort(steps)
	c.add("calibration.clock_tick_ns", strconv.FormatInt(greatestCommonDivisor(steps), 10), "ns", source)
	c.add("calibration.clock_step_ns", strconv.FormatInt(steps[len(steps)/2], 10), "ns", source)
	return c.facts
}

// greatestCommonDivisor of the steps is the tick that all of them are made of.
func greatestCommonDivisor(steps []int64) int64 {
	g := steps[0]
	for _, s := range steps[1:] {
		for s != 0 {
			g, s = s, g%s
		}
	}
	return g
}
