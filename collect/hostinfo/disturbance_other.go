//go:build !linux

package hostinfo

// watchFiles is empty: this system has no files of counters.
type watchFiles struct{}

// NewWatch watches what this system tells: the load.
func NewWatch(cpus []int) *Watch { return &Watch{cpus: cpus} }

// Snapshot reads the load; every other counter is absent.
func (w *Watch) Snapshot() Snapshot {
	var s Snapshot
	if load, ok := load1Milli(); ok {
		s.Load1Milli = &load
	}
	return s
}

// SwitchesOf finds nothing: rusage has the counters once the process has been
// waited for.
func SwitchesOf(int) Switches { return Switches{} }
