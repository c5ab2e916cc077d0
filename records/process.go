package records

import "time"

// CPUScope says which span cpu_ns and cpu_wall_ns of a process both cover.
type CPUScope string

const (
	// CPUScopeInterval covers the measured interval alone.
	CPUScopeInterval CPUScope = "interval"
	// CPUScopeProcess covers the process from its start to its end, warm-up
	// included.
	CPUScopeProcess CPUScope = "process"
)

// Process is one started program: a row of data/processes.parquet. Times are
// nanoseconds, sizes are bytes. The struct tags name the columns and their
// encodings for package parquetfile.
type Process struct {
	// ProcessNo is unique in the bundle, counts from 1 in the order of the
	// plan's starts, and joins to the samples.
	ProcessNo int32 `parquet:"process_no"`
	// ProcessID is the readable twin of ProcessNo: suite, cell, arm and round.
	ProcessID string `parquet:"process_id,plain"`
	Suite     string `parquet:"suite,dict"`
	CellID    string `parquet:"cell_id,dict"`
	// Arm is the name of the arm in the plan (callback); Side is A or B.
	Arm  string `parquet:"arm,dict"`
	Side Side   `parquet:"side,dict"`
	// Round counts from 1.
	Round int32 `parquet:"round"`
	// Slot is the position in the order of execution over the whole study,
	// from 1. A resumed collection goes on counting; slots are unique.
	Slot int32 `parquet:"slot"`
	// FirstInPair says whether this process ran before its pair's other side.
	FirstInPair bool `parquet:"first_in_pair"`
	// StartedAt is the wall clock at the start, cut to microseconds, and
	// StartedUnixNs the same instant in full; Start sets both. Absent where an
	// imported file does not say. No duration is computed from them.
	StartedAt     *time.Time `parquet:"started_at,optional,timestamp(microsecond)"`
	StartedUnixNs *int64     `parquet:"started_unix_ns,optional"`
	// Argv is the redacted argument vector as a JSON array of strings.
	Argv    string  `parquet:"argv,plain"`
	Outcome Outcome `parquet:"outcome,dict"`
	// OutcomeDetail says in one line why the outcome is not ok; absent when ok.
	OutcomeDetail *string `parquet:"outcome_detail,optional,plain"`
	// ExitCode is absent when a signal ended the process or none was started;
	// Signal is absent when the process ended by itself.
	ExitCode *int32 `parquet:"exit_code,optional"`
	Signal   *int32 `parquet:"signal,optional"`

	// Stdout and Stderr hold what the process wrote, redacted, cut to the
	// collector's limit; the bytes and the hash are of the whole redacted
	// output, and the flag says whether the column holds less.
	Stdout          []byte `parquet:"stdout,plain"`
	StdoutBytes     int64  `parquet:"stdout_bytes"`
	StdoutSHA256    string `parquet:"stdout_sha256,plain"`
	StdoutTruncated bool   `parquet:"stdout_truncated"`
	Stderr          []byte `parquet:"stderr,plain"`
	StderrBytes     int64  `parquet:"stderr_bytes"`
	StderrSHA256    string `parquet:"stderr_sha256,plain"`
	StderrTruncated bool   `parquet:"stderr_truncated"`

	// The driver's counts. An operation is one request or one command of a
	// pipelined batch; a sample is one request or one whole batch.
	MeasuredOperations *int64 `parquet:"measured_operations,optional"`
	WarmupOperations   *int64 `parquet:"warmup_operations,optional"`
	Errors             *int64 `parquet:"errors,optional"`
	Incomplete         *int64 `parquet:"incomplete,optional"`
	WarmupErrors       *int64 `parquet:"warmup_errors,optional"`
	// MissedTicks counts cadence ticks that passed unserved; absent under a
	// continuous cadence.
	MissedTicks *int64 `parquet:"missed_ticks,optional"`
	// SampleCount is the number of rows in the process's sample file; absent
	// when it has none.
	SampleCount *int64 `parquet:"sample_count,optional"`

	// ElapsedNs is the measured interval: from the first submission to the last
	// delivery, on a monotonic clock.
	ElapsedNs *int64 `parquet:"elapsed_ns,optional"`
	// CPUNs is the process CPU clock over CPUScope, CPUWallNs the monotonic time
	// over the same span; user and system come from rusage over the whole
	// process and are absent where the system does not tell.
	CPUNs       *int64    `parquet:"cpu_ns,optional"`
	CPUUserNs   *int64    `parquet:"cpu_user_ns,optional"`
	CPUSystemNs *int64    `parquet:"cpu_system_ns,optional"`
	CPUWallNs   *int64    `parquet:"cpu_wall_ns,optional"`
	CPUScope    *CPUScope `parquet:"cpu_scope,optional,dict"`
	// ProcessWallNs is the monotonic time from start to end of the process,
	// ProcessCPUNs its CPU clock over the same span, waited-for children
	// included.
	ProcessWallNs *int64 `parquet:"process_wall_ns,optional"`
	ProcessCPUNs  *int64 `parquet:"process_cpu_ns,optional"`
	// ReadyNs is the time from start until the driver was connected and warm.
	ReadyNs *int64 `parquet:"ready_ns,optional"`

	// PeakRSSBytes is the high-water mark of the resident set, PeakRSSSource how
	// it was read (vmhwm_at_done, vmhwm_ptrace_exit, rusage_launcher,
	// rusage_darwin, stated) and RSSFloorBytes the value below which this source
	// cannot read.
	PeakRSSBytes  *int64  `parquet:"peak_rss_bytes,optional"`
	PeakRSSSource *string `parquet:"peak_rss_source,optional,dict"`
	RSSFloorBytes *int64  `parquet:"rss_floor_bytes,optional"`

	// StatedLatencyP50Ns and StatedLatencyP99Ns are percentiles as the driver or
	// an imported file states them. They are compared with the samples, and
	// stand in for them only where there are none.
	StatedLatencyP50Ns *int64 `parquet:"stated_latency_p50_ns,optional"`
	StatedLatencyP99Ns *int64 `parquet:"stated_latency_p99_ns,optional"`
	// StatedThroughputMicroPerSec is operations per second times 1,000,000 as the
	// tool behind an imported file states it. Such a tool rounds its counts and
	// times or leaves them out, so that nothing better can be computed from them.
	StatedThroughputMicroPerSec *int64 `parquet:"stated_throughput_micro_per_sec,optional"`

	// ClientCPUs and ServerCPUs are the affinity lists that held ("0", "0-1"),
	// as the system told while the process ran.
	ClientCPUs *string `parquet:"client_cpus,optional,dict"`
	ServerCPUs *string `parquet:"server_cpus,optional,dict"`
	// Runtime and Versions are JSON objects of strings: the driver's settings
	// that matter (gomaxprocs, gogc, reset policy) and the versions of driver,
	// client library and service. Absent when the driver said nothing.
	Runtime  *string `parquet:"runtime,optional,plain"`
	Versions *string `parquet:"versions,optional,plain"`
	// Disturbance counters over the process's life, from the system.
	VoluntarySwitches   *int64 `parquet:"voluntary_switches,optional"`
	InvoluntarySwitches *int64 `parquet:"involuntary_switches,optional"`
	MajorFaults         *int64 `parquet:"major_faults,optional"`
	StealNs             *int64 `parquet:"steal_ns,optional"`
	CPUPressureNs       *int64 `parquet:"cpu_pressure_ns,optional"`
	ThrottledNs         *int64 `parquet:"throttled_ns,optional"`
	// Load1Milli is the one-minute load average times 1000 at the start.
	Load1Milli *int64 `parquet:"load1_milli,optional"`
	// CPUFrequencyKHz is the client CPU's frequency at the end of the process.
	CPUFrequencyKHz *int64 `parquet:"cpu_frequency_khz,optional"`
	// Leftovers counts processes that were still there when this one had ended.
	Leftovers *int64 `parquet:"leftovers,optional"`
}

// Start says when the process was started.
func (p *Process) Start(at time.Time) {
	ns := at.UnixNano()
	cut := time.UnixMicro(at.UnixMicro()).UTC()
	p.StartedAt, p.StartedUnixNs = &cut, &ns
}
