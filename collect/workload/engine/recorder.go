package engine

import "pairbench/records"

// recorder keeps the samples of one measured interval.
type recorder struct {
	start, latency, scheduled []int64
	// exceeded says that the memory had to be enlarged inside the interval.
	exceeded bool
}

// newRecorder returns a recorder with touched memory for capacity samples.
func newRecorder(capacity int, scheduled bool) *recorder {
	r := &recorder{start: touched(capacity), latency: touched(capacity)}
	if scheduled {
		r.scheduled = touched(capacity)
	}
	return r
}

func touched(n int) []int64 {
	s := make([]int64, n)
	for i := 0; i < n; i += 512 {
		s[i] = 1
	}
	return s[:0]
}

func (r *recorder) add(start, latency, scheduled int64) {
	n := len(r.latency)
	if n == cap(r.latency) {
		r.grow()
	}
	r.start = r.start[:n+1]
	r.latency = r.latency[:n+1]
	r.start[n] = start
	r.latency[n] = latency
	if r.scheduled != nil {
		r.scheduled = r.scheduled[:n+1]
		r.scheduled[n] = scheduled
	}
}

func (r *recorder) grow() {
	r.exceeded = true
	more := func(s []int64) []int64 {
		if s == nil {
			return nil
		}
		return append(make([]int64, 0, 2*cap(s)+1024), s...)
	}
	r.start, r.latency, r.scheduled = more(r.start), more(r.latency), more(r.scheduled)
}

// reset forgets the samples and keeps the memory.
func (r *recorder) reset() {
	r.start, r.latency, r.scheduled = r.start[:0], r.latency[:0], r.scheduled[:0]
}

func (r *recorder) samples(processNo int32) records.Samples {
	return records.Samples{ProcessNo: processNo, StartNs: r.start, LatencyNs: r.latency, ScheduledNs: r.scheduled}
}
