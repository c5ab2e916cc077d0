package driver

import "pairbench/records"

// ProtocolVersion is the version of job, messages and sample frame.
const ProtocolVersion = 1

// JobEnv names the environment variable that holds the path of the job file.
const JobEnv = "PAIRBENCH_JOB"

// The descriptors a driver inherits.
const (
	FDMessages = 3 // driver to collector
	FDCommands = 4 // collector to driver
	FDSamples  = 5 // sample frame
)

// MaxMessageBytes bounds one control line, newline included.
const MaxMessageBytes = 1 << 20

// Job is what one process has to do. The file it travels in is readable by its
// owner only and is gone when the process has ended.
type Job struct {
	Protocol  int          `json:"protocol"`
	ProcessNo int32        `json:"process_no"`
	ProcessID string       `json:"process_id"`
	Suite     string       `json:"suite"`
	CellID    string       `json:"cell_id"`
	Arm       string       `json:"arm"` // name of the arm: callback
	Side      records.Side `json:"side"`
	Round     int32        `json:"round"`
	// Workload is the built-in workload's name: redis_echo, redis_pipeline,
	// mysql_text, tcp_echo, http_echo, websocket_echo.
	Workload string `json:"workload"`
	// Factors are the cell's factors and the suite's constants; values are JSON
	// numbers, strings or booleans.
	Factors map[string]any `json:"factors"`
	// Settings are the plan's settings for this suite and arm that are no
	// factors: io (separate, inline), idle (yield; wait with io inline),
	// mysql_reset (library, full), gogc, gomaxprocs, arrival, rate_per_sec.
	Settings map[string]any `json:"settings,omitempty"`
	Warmup   Amount         `json:"warmup"`
	Measure  Amount         `json:"measure"`
	// OperationsPerSample is the number of operations that one sample stands
	// for: 1 or absent for a request, the batch for a pipeline.
	OperationsPerSample int64 `json:"operations_per_sample,omitempty"`
	// ClientCPUs asks the driver to stay on these processors; empty leaves it.
	ClientCPUs []int    `json:"client_cpus,omitempty"`
	Service    *Service `json:"service,omitempty"`
	// Seed makes payloads and arrivals repeatable; the same for both sides of a
	// pair.
	Seed int64 `json:"seed"`
}

// Amount is a fixed count of operations or a duration; exactly one is positive,
// or both are zero for none.
type Amount struct {
	Operations int64 `json:"operations,omitempty"`
	DurationNs int64 `json:"duration_ns,omitempty"`
}

// Service is where the requests go.
type Service struct {
	// Address is host:port.
	Address string `json:"address"`
	// CAFile verifies the server; set means TLS with full verification against
	// ServerName. There is no setting that turns verification off.
	CAFile     string `json:"ca_file,omitempty"`
	ServerName string `json:"server_name,omitempty"`
	User       string `json:"user,omitempty"`
	// PasswordEnv names the variable of the driver's environment that holds the
	// password; the password itself is never in the job.
	PasswordEnv string `json:"password_env,omitempty"`
	Database    string `json:"database,omitempty"`
}

// The types of messages and commands.
const (
	TypeHello = "hello"
	TypeReady = "ready"
	TypeBegin = "begin"
	TypeEnd   = "end"
	TypeDone  = "done"
	TypeError = "error"

	CommandGo   = "go"
	CommandExit = "exit"
)

// Message is one line on FDMessages. Type says which of the pointers is set;
// ready, begin and done carry nothing more.
type Message struct {
	Type  string  `json:"type"`
	Hello *Hello  `json:"hello,omitempty"`
	End   *Result `json:"end,omitempty"`
	Error string  `json:"error,omitempty"`
}

// Command is one line on FDCommands.
type Command struct {
	Type string `json:"type"`
}

// Hello is the driver's first message.
type Hello struct {
	Protocol int    `json:"protocol"`
	Driver   string `json:"driver"` // pbdriver, asio_boost
	// Versions names what the driver is made of: driver, go, go-redis, boost.
	Versions map[string]string `json:"versions,omitempty"`
}

// Result is what the driver counted. Absent values are those it cannot know.
type Result struct {
	MeasuredOperations int64  `json:"measured_operations"`
	WarmupOperations   int64  `json:"warmup_operations"`
	Errors             int64  `json:"errors"`
	Incomplete         int64  `json:"incomplete"`
	WarmupErrors       int64  `json:"warmup_errors"`
	MissedTicks        *int64 `json:"missed_ticks,omitempty"`
	// FirstError is the text of the first failed operation, for the record.
	FirstError string `json:"first_error,omitempty"`
	// ElapsedNs is the measured interval on the driver's monotonic clock, from
	// the first submission to the last delivery.
	ElapsedNs int64 `json:"elapsed_ns"`
	// CPUIntervalNs is the process CPU clock over the measured interval,
	// CPUProcessNs from the start of the process until end.
	CPUIntervalNs *int64 `json:"cpu_interval_ns,omitempty"`
	CPUProcessNs  *int64 `json:"cpu_process_ns,omitempty"`
	PeakRSSBytes  *int64 `json:"peak_rss_bytes,omitempty"`
	P50Ns         *int64 `json:"p50_ns,omitempty"`
	P99Ns         *int64 `json:"p99_ns,omitempty"`
	// Samples is the number of samples in the frame.
	Samples int64 `json:"samples"`
	// ClockTickNs is the smallest step seen on the driver's clock.
	ClockTickNs int64 `json:"clock_tick_ns,omitempty"`
	// ClientCPUs is the affinity that held during the interval ("0", "0-1").
	ClientCPUs string `json:"client_cpus,omitempty"`
	// Runtime are the settings that matter: gomaxprocs, gogc, reset_policy, io,
	// tls_cipher, locked_threads.
	Runtime map[string]string `json:"runtime,omitempty"`
	// Versions adds what only a connection tells: the server's version.
	Versions map[string]string `json:"versions,omitempty"`
}
