package proc

import "time"

// The values of peak_rss_source that this package produces.
const (
	SourceSnapshot = "vmhwm_at_done"
	SourcePtrace   = "vmhwm_ptrace_exit"
	SourceLauncher = "rusage_launcher"
	SourceDarwin   = "rusage_darwin"
)

// PeakRSS is a high-water mark of the resident set with how it was read.
type PeakRSS struct {
	// Bytes is of the process alone where it is VmHWM, and of it or the largest
	// of its waited-for children where it is from rusage.
	Bytes int64
	// Source is one of the Source constants.
	Source string
	// FloorBytes is the value below which the source cannot read, whatever the
	// process used.
	FloorBytes int64
}

// Snapshot is what the system tells of a running process. Absent values are
// those that this system does not tell.
type Snapshot struct {
	// Peak is the high-water mark so far.
	Peak *PeakRSS
	// CPUNs is the process CPU clock since the start, all threads, waited-for
	// children not yet included.
	CPUNs *int64
	// WallNs is the monotonic time since the start.
	WallNs int64
	// CPUs are the processors that any thread of the process may run on, in
	// ascending order; nil is unknown.
	CPUs    []int
	Threads *int64
}

// Cause says why the collector ended a process; empty when it ended by itself.
type Cause string

// The causes.
const (
	CauseTimeLimit   Cause = "time_limit"
	CauseOutputLimit Cause = "output_limit"
	CauseSampleLimit Cause = "sample_limit"
	CauseEnded       Cause = "ended"     // End was called
	CauseCancelled   Cause = "cancelled" // the context of Wait was done
)

// Exit is how a process ended and what it used. It is complete: the process is
// reaped and nothing of it is left when Wait returns it, unless Remaining says
// otherwise.
type Exit struct {
	// StartedAt carries the wall clock; durations never come from it.
	StartedAt time.Time
	// ExitCode is set when the process ended by itself, Signal when a signal
	// ended it; never both, and neither where the system lost the status.
	ExitCode, Signal *int32
	// CoreDumped goes with Signal.
	CoreDumped bool
	Cause      Cause
	// Leftovers counts processes that were alive when this one had ended and
	// that the collector had not ended already; absent where the system gives no
	// way to find them. LeftoverCPUNs is the CPU time of all orphans, which
	// CPUNs does not include.
	Leftovers     *int64
	LeftoverCPUNs int64
	// LeftoverNames are the command names of the first few leftovers.
	LeftoverNames []string
	// Remaining counts processes that could not be ended (asleep in the kernel);
	// the host is then not clean.
	Remaining int64
	// NoRoom is set when one of the files that the collector gave the process
	// could not have grown (full device, quota, RLIMIT_FSIZE), and names it: what
	// the process wrote may be cut short, through no fault of its own. A process
	// that was ended for writing too much is not asked.
	NoRoom error

	// WallNs is the monotonic time from start to end, CPUNs the CPU time over
	// the same span, waited-for children included, in nanoseconds where the
	// process has none and in microseconds otherwise; CPUUserNs and CPUSystemNs
	// are its parts after rusage, in microseconds.
	WallNs                        int64
	CPUNs, CPUUserNs, CPUSystemNs int64
	// Peak is the last snapshot's for RSSAtSnapshot, and absent where the
	// process ended before it could be read.
	Peak *PeakRSS
	// The counters cover all threads and waited-for children.
	VoluntarySwitches, InvoluntarySwitches, MajorFaults int64
}
