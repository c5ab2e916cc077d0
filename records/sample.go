package records

// Samples are the raw samples of exactly one process, column by column, in the
// order of completion. All columns have the same length. There is no type that
// holds the samples of two processes, so pooling them cannot be written.
type Samples struct {
	ProcessNo int32
	// StartNs is the offset of a sample's start from the start of the measured
	// interval, LatencyNs the time to its delivery. Neither is ever negative.
	StartNs   []int64
	LatencyNs []int64
	// ScheduledNs is the offset at which an open-loop schedule wanted the sample
	// to start; nil for closed loops. Response time is then start + latency -
	// scheduled, service time is latency.
	ScheduledNs []int64
	// ClockTickNs is the smallest step of the clock that took the times; 0 is
	// unknown.
	ClockTickNs int64
}

// Len returns the number of samples.
func (s Samples) Len() int { return len(s.LatencyNs) }

// SampleMeta is what a sample file says of itself in its key-value metadata.
type SampleMeta struct {
	ProcessNo int32
	ProcessID string
	Suite     string
	CellID    string
	Arm       string
	Side      Side
	Round     int32
	// ClockTickNs is the smallest step of the driver's clock; 0 is unknown.
	ClockTickNs int64
}
