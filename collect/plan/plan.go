package plan

import (
	"time"

	"pairbench/records"
)

// Plan is a validated plan file.
type Plan struct {
	// Source is the file byte for byte; SHA256 its lower-case hex hash.
	Source []byte
	SHA256 string
	Study  string
	Title  map[string]string
	// Profile (database, native, release) and Layout (paired, compact, release)
	// name how the report writes the study.
	Profile string
	Layout  string
	Arms    [2]Arm // A, then B
	Rounds  int
	Order   records.RunOrder // kind alternate, shuffle or sequential
	Suites  []Suite
	// PassEnv lists the variables of the collector's environment that processes
	// inherit; Env sets others for both arms.
	PassEnv []string
	Env     map[string]string
}

// Arm is one side of the comparison.
type Arm struct {
	Side  records.Side
	Name  string
	Label map[string]string
	// Program is what the arm runs in every suite that does not say otherwise.
	Program Program
	Env     map[string]string
	// Settings are merged over the suite's for this arm.
	Settings map[string]any
}

// Program says what a process executes. Exactly one of Builtin, Command and
// Build is set; the zero Program leaves the choice to the suite or the arm.
type Program struct {
	// Builtin is a driver that pairbench brings: pbdriver, asio_boost,
	// asio_standalone.
	Builtin string
	// Command is an argument vector, never split; placeholders {factor}, {arm},
	// {round}, {service_address} are replaced inside each element.
	Command []string
	Build   *Build
	// Read says how to get numbers from a program that does not speak the
	// protocol; nil means that it does.
	Read *Read
}

// Build makes a program from a revision of a repository.
type Build struct {
	Repository string   // path or URL that git accepts
	Revision   string   // commit, tag or branch
	Command    []string // run in the work tree; no shell
	Binary     string   // relative to the work tree
	// Args follow the binary in the argument vector.
	Args []string
	// Module replacements for Go builds, module -> version (go get before the
	// command runs).
	GoModules map[string]string
}

// Read maps the name of a driver Result field (measured_operations, elapsed_ns,
// p50_ns, ...) to where its value stands in the program's output. With no
// fields only wall time, CPU and peak RSS are measured.
type Read struct {
	From   string // stdout or stderr
	Fields map[string]ReadField
}

// ReadField finds one number. Exactly one of Regexp (first group) and JSONPath
// (dotted keys and indices) is set; Scale multiplies what was read, 0 means 1.
type ReadField struct {
	Regexp   string
	JSONPath string
	Scale    float64
}

// Suite is a set of cells measured with one driver against one service.
type Suite struct {
	ID       string
	Title    map[string]string
	Profile  string // empty: the plan's
	Workload string // a built-in workload, or "command"
	// Programs overrides the arms' programs for this suite; A, then B.
	Programs [2]Program
	Service  *Service
	Factors  []records.RunFactor
	// Cells are the suite's cells in the order of the plan.
	Cells    []Cell
	Panel    []string
	Metrics  []string
	CPUScope records.CPUScope
	// CPUCovers is client or client_and_server; LatencyCovers request, message
	// or batch.
	CPUCovers     string
	LatencyCovers string
	// Settings go to the driver's job.
	Settings  map[string]any
	Placement Placement
	// BusyThreads is the number of threads that are busy at once in the largest
	// cell, client and server together; 0 is unknown.
	BusyThreads int
	// TimeLimit bounds one process from start to exit; StepLimit one protocol
	// step besides warm-up and measurement.
	TimeLimit time.Duration
	StepLimit time.Duration
	Notes     []map[string]string
}

// Placement pins client and server to processors; empty leaves them free.
type Placement struct {
	// Policy is one_core (both on the first processor the collector may use),
	// apart (client on the first, server on the second), free, or empty, and
	// then the lists hold. The collector turns a policy into lists.
	Policy string
	Client []int
	Server []int
}

// Service says what answers the requests.
type Service struct {
	Name string // the name that --service uses
	Kind string // redis, mysql, echo
	// Mode is managed, embedded or external; Address is set for external.
	Mode    string
	Address string
	// User, PasswordEnv, PasswordFile, Database, CAFile and ServerName are for
	// external services; secrets are named, never written.
	User, PasswordEnv, PasswordFile, Database, CAFile, ServerName string
	// Options are kind-specific: tls (required), config lines.
	Options map[string]string
}

// Cell is one cell with its amounts.
type Cell struct {
	records.Cell
	Warmup  Amount
	Measure Amount
}

// Amount is a fixed count of operations or a duration; at most one is positive.
type Amount struct {
	Operations int64
	Duration   time.Duration
}

// Start is one process to run, in its place in the order.
type Start struct {
	// ProcessNo is fixed by plan and selection: suites, cells, rounds and sides
	// in the order of the plan. Slot is the position in the order of execution.
	// Both count from 1.
	ProcessNo int32
	Slot      int32
	SuiteNo   int // index into Plan.Suites
	CellNo    int // index into Suite.Cells
	Side      records.Side
	Round     int32
	// FirstInPair says whether the start comes before its pair's other side.
	// The two starts of a pair are always adjacent.
	FirstInPair bool
}

// Selection narrows and scales a plan; the zero value changes nothing.
type Selection struct {
	Suites   []string          // suite ids; empty: all
	Cells    string            // glob over cell ids; empty: all
	Rounds   int               // 0: the plan's
	Scale    float64           // durations and counts times this; 0: 1
	Services map[string]string // service name -> managed, embedded or an address
	Seed     *int64            // nil: the plan's
	Shard    *records.RunShard // nil: all cells
}
