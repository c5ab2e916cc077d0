package records

import "time"

// SchemaVersion is the version of the bundle's layout that this code writes.
// Readers accept it and every older one.
const SchemaVersion = 1

// Run is data/run.json: what binds a bundle's tables together.
type Run struct {
	SchemaVersion int    `json:"schema_version"`
	ToolVersion   string `json:"tool_version"`
	// Study is the plan's study id; PlanSHA256 the hash of data/plan.yaml.
	Study      string `json:"study"`
	PlanSHA256 string `json:"plan_sha256"`
	// Profile and Layout name how the report writes the study.
	Profile string `json:"profile"`
	Layout  string `json:"layout"`
	// Origin is "collected", or "imported" with the name of the format.
	Origin       string  `json:"origin"`
	ImportFormat *string `json:"import_format,omitempty"`
	// Title, Arms and Suites carry the plan's words in both languages, so that
	// analyze needs no plan parser.
	Title  map[string]string `json:"title,omitempty"`
	Arms   [2]RunArm         `json:"arms"`
	Suites []RunSuite        `json:"suites"`
	Rounds int               `json:"rounds"`
	Order  RunOrder          `json:"order"`
	// AA says that both arms ran the same binary on purpose (--aa).
	AA bool `json:"aa,omitempty"`
	// Selection holds the flags that narrowed the plan, name to value.
	Selection map[string]string `json:"selection,omitempty"`
	Shard     *RunShard         `json:"shard,omitempty"`
	// StartedAt and EndedAt are wall-clock UTC; ElapsedNs is monotonic, summed
	// over resumed sessions.
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	ElapsedNs int64     `json:"elapsed_ns"`
	// ServiceStartNs is the part of ElapsedNs spent on starting services,
	// MeasuredNs the part inside measured intervals, WarmupNs inside warm-ups.
	ServiceStartNs int64 `json:"service_start_ns"`
	MeasuredNs     int64 `json:"measured_ns"`
	WarmupNs       int64 `json:"warmup_ns"`
	Resumes        int   `json:"resumes"`

	PlannedProcesses int `json:"planned_processes"`
	Processes        int `json:"processes"`
	FailedProcesses  int `json:"failed_processes"`
	// Samples is the total number of raw samples in the bundle.
	Samples int64 `json:"samples"`
	// Lock is "complete" or "incomplete"; LockGaps say why.
	Lock     string   `json:"lock"`
	LockGaps []string `json:"lock_gaps,omitempty"`
}

// RunArm is one arm as the plan names it.
type RunArm struct {
	Side  Side              `json:"side"`
	Name  string            `json:"name"`
	Label map[string]string `json:"label,omitempty"`
	// Revision and Digest identify what a built arm was made from and what came
	// out; absent when both arms are one binary.
	Revision *string `json:"revision,omitempty"`
	Digest   *string `json:"digest,omitempty"`
}

// RunSuite is what a report needs to know of a suite beyond its cells.
type RunSuite struct {
	ID      string            `json:"id"`
	Title   map[string]string `json:"title,omitempty"`
	Profile string            `json:"profile,omitempty"`
	// Workload is the built-in workload's name, or "command".
	Workload string `json:"workload"`
	// Panel lists the factors that make up a panel of charts; the other factors
	// vary inside it.
	Panel   []string    `json:"panel,omitempty"`
	Factors []RunFactor `json:"factors"`
	// Metrics lists the metrics to show, by id; empty means all that have values.
	Metrics  []string `json:"metrics,omitempty"`
	CPUScope CPUScope `json:"cpu_scope,omitempty"`
	// CPUCovers is "client" or "client_and_server".
	CPUCovers string `json:"cpu_covers,omitempty"`
	// LatencyCovers is request, message or batch.
	LatencyCovers string      `json:"latency_covers,omitempty"`
	Service       *RunService `json:"service,omitempty"`
	// Notes are the plan's own remarks about the suite, by language.
	Notes []map[string]string `json:"notes,omitempty"`
}

// RunFactor describes a factor: its kind, unit and name in each language.
type RunFactor struct {
	Name  string            `json:"name"`
	Kind  FactorKind        `json:"kind"`
	Unit  string            `json:"unit,omitempty"`
	Label map[string]string `json:"label,omitempty"`
	// ValueLabels maps a value as written in the plan to its words by language
	// (continuous -> Continuous / 连续).
	ValueLabels map[string]map[string]string `json:"value_labels,omitempty"`
	Constant    bool                         `json:"constant,omitempty"`
}

// RunService says what answered the requests.
type RunService struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Mode    string `json:"mode"`
	Version string `json:"version,omitempty"`
	Address string `json:"address,omitempty"`
	// SHA256 is the server binary's; absent for an external service.
	SHA256 *string `json:"sha256,omitempty"`
	TLS    *string `json:"tls,omitempty"`
	CPUs   string  `json:"cpus,omitempty"`
}

// RunOrder is the rule by which starts were ordered.
type RunOrder struct {
	Kind string `json:"kind"`
	Seed *int64 `json:"seed,omitempty"`
}

// RunShard says which part of a study's cells this bundle holds.
type RunShard struct {
	Index int `json:"index"`
	Count int `json:"count"`
}
