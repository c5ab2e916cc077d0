package echo

import "time"

// clockTick returns the smallest step seen on the clock, in ns.
func clockTick() int64 {
	base := time.Now()
	smallest, last := int64(time.Hour), int64(0)
	for range 2000 {
		now := int64(time.Since(base))
		if step := now - last; step > 0 {
			smallest = min(smallest, step)
		}
		last = now
	}
	return smallest
}
