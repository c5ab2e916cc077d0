package report

import (
	"time"

	"pairbench/records"
)

// SchemaVersion is the version of report.json that this code writes.
const SchemaVersion = 1

// Text is a plan's or arm's words by language tag ("en", "zh-CN"). A missing
// language falls back to "en", a missing "en" to the id beside it.
type Text map[string]string

// Report is everything a reader is shown of one study.
type Report struct {
	SchemaVersion int    `json:"schema_version"`
	ToolVersion   string `json:"tool_version"`
	Study         Study  `json:"study"`
	// Bundles are the evidence, in the order of their identities.
	Bundles []Bundle `json:"bundles"`
	// Suites stand in the order of the plan.
	Suites []Suite `json:"suites"`
	Totals Totals  `json:"totals"`
	Scope  Scope   `json:"scope"`
	// Failures lists every process whose outcome is not ok, by process number.
	Failures []Failure `json:"failures,omitempty"`
	// Notes are doubts about the whole study; suites and cells have their own.
	Notes []Note `json:"notes,omitempty"`
}

// Study names what was compared.
type Study struct {
	ID         string           `json:"id"`
	Title      Text             `json:"title,omitempty"`
	Profile    string           `json:"profile"` // database, native, release
	Layout     string           `json:"layout"`  // paired, compact, release
	Arms       [2]Arm           `json:"arms"`    // A, then B
	Rounds     int              `json:"rounds"`
	Order      records.RunOrder `json:"order"`
	AA         bool             `json:"aa,omitempty"`
	PlanSHA256 string           `json:"plan_sha256,omitempty"`
	// Origin is collected or imported; ImportFormat names the format.
	Origin       string  `json:"origin"`
	ImportFormat *string `json:"import_format,omitempty"`
}

// Arm is one side of the comparison.
type Arm struct {
	Side     records.Side `json:"side"`
	Name     string       `json:"name"`
	Label    Text         `json:"label,omitempty"`
	Revision *string      `json:"revision,omitempty"`
	Digest   *string      `json:"digest,omitempty"`
}

// Bundle is one sealed bundle that the report rests on.
type Bundle struct {
	// Identity is the SHA-256 of its tag manifest, in lower-case hex.
	Identity string `json:"identity"`
	// Name is the base name of its directory when it was analysed; never a path.
	Name      string            `json:"name"`
	Shard     *records.RunShard `json:"shard,omitempty"`
	StartedAt time.Time         `json:"started_at,omitzero"`
	EndedAt   time.Time         `json:"ended_at,omitzero"`
	Lock      string            `json:"lock"`
	LockGaps  []string          `json:"lock_gaps,omitempty"`
	Resumes   int               `json:"resumes,omitempty"`
}

// Suite is the result of one suite.
type Suite struct {
	ID            string              `json:"id"`
	Title         Text                `json:"title,omitempty"`
	Profile       string              `json:"profile"`
	Workload      string              `json:"workload"`
	Panel         []string            `json:"panel,omitempty"`
	Factors       []records.RunFactor `json:"factors"`
	CPUScope      records.CPUScope    `json:"cpu_scope,omitempty"`
	CPUCovers     string              `json:"cpu_covers,omitempty"`
	LatencyCovers string              `json:"latency_covers,omitempty"`
	Service       *records.RunService `json:"service,omitempty"`
	PlanNotes     []Text              `json:"plan_notes,omitempty"`
	// Metrics to show, in order. Every cell has one comparison for each.
	Metrics []Metric `json:"metrics"`
	Cells   []Cell   `json:"cells"`
	// Summaries has one entry for each metric, in the same order.
	Summaries []Summary `json:"summaries"`
	// Panels groups the cells by the panel factors, in the order of the plan.
	Panels []PanelResult `json:"panels"`
	Totals Totals        `json:"totals"`
	// Counts are the planned amounts per process, one row for each distinct
	// combination of the factors that decide them.
	Counts []Count `json:"counts,omitempty"`
	Notes  []Note  `json:"notes,omitempty"`
}

// Metric is a column of the report, without its words.
type Metric struct {
	// ID is throughput, cpu, latency_p50, latency_p99, peak_rss, cpu_efficiency,
	// or another of analyze/metric.
	ID   string `json:"id"`
	Unit string `json:"unit"` // per_sec, pct, ns, bytes
	// Better is higher, lower or neither.
	Better string `json:"better"`
}

// Cell is one cell's results.
type Cell struct {
	ID      string        `json:"id"`
	Factors []FactorValue `json:"factors"` // in the order of Suite.Factors
	// Comparisons has one entry for each of Suite.Metrics, in the same order.
	Comparisons []Comparison `json:"comparisons"`
	// Processes are all of the cell's processes, failed ones too, by slot.
	Processes []Process `json:"processes"`
	Notes     []Note    `json:"notes,omitempty"`
}

// FactorValue is a factor's value in a cell, as the plan writes it.
type FactorValue struct {
	Name  string             `json:"name"`
	Kind  records.FactorKind `json:"kind"`
	Value string             `json:"value"`
}

// Comparison is one metric of one cell.
type Comparison struct {
	Metric string     `json:"metric"`
	A      ArmSummary `json:"a"`
	B      ArmSummary `json:"b"`
	// ChangePct is (median B / median A - 1) * 100; nil when not computable,
	// and ChangeReason then says why (arm_missing, median_a_zero).
	ChangePct    *Number `json:"change_pct,omitempty"`
	ChangeReason string  `json:"change_reason,omitempty"`
	// Overlap says whether the closed ranges share a value; nil when not
	// computable, and OverlapReason says why (arm_missing, one_process).
	Overlap       *bool  `json:"overlap,omitempty"`
	OverlapReason string `json:"overlap_reason,omitempty"`
	// Inference is present only when it was asked for.
	Inference []Inference `json:"inference,omitempty"`
	// Floor is present when an A/A analysis was given.
	Floor *Floor `json:"floor,omitempty"`
}

// ArmSummary is the median and range of one arm's processes. With N = 0 the
// three numbers are nil.
type ArmSummary struct {
	N      int     `json:"n"`
	Median *Number `json:"median,omitempty"`
	Min    *Number `json:"min,omitempty"`
	Max    *Number `json:"max,omitempty"`
}

// Inference is one interval or test, with the level it really attains.
type Inference struct {
	// Method is range_ratio, mann_whitney, hodges_lehmann, signed_rank,
	// median_rank_interval, paired_t_log, bootstrap_two_level.
	Method string `json:"method"`
	// NeedN is set, and nothing else, when the arms have too few processes.
	NeedN int `json:"need_n,omitempty"`
	// Reason says why the method gives nothing although n is enough; it is one
	// of the Reason constants.
	Reason      string   `json:"reason,omitempty"`
	EstimatePct *float64 `json:"estimate_pct,omitempty"`
	LowPct      *float64 `json:"low_pct,omitempty"`
	HighPct     *float64 `json:"high_pct,omitempty"`
	Level       *float64 `json:"level,omitempty"`
	P           *float64 `json:"p,omitempty"`
	// PAdjusted is P after Benjamini-Hochberg over the suite's cells;
	// PAdjustedFloor is the smallest value it could take if this cell alone
	// differed as clearly as n allows.
	PAdjusted      *float64 `json:"p_adjusted,omitempty"`
	PAdjustedFloor *float64 `json:"p_adjusted_floor,omitempty"`
	ModelBased     bool     `json:"model_based,omitempty"`
	Seed           *int64   `json:"seed,omitempty"`
}

// The reasons of an Inference.
const (
	ReasonNotPaired   = "not_paired"   // the sides come from separate collections
	ReasonNotPositive = "not_positive" // a ratio needs positive values
	ReasonNoVariation = "no_variation" // all rounds agree, so that there is no scale
)

// Floor places a change against the changes of an A/A analysis: as far as these
// lie from none, up and down, over Cells cells.
type Floor struct {
	LowPct  float64 `json:"low_pct"`
	HighPct float64 `json:"high_pct"`
	Inside  bool    `json:"inside"`
	Cells   int     `json:"cells"`
}

// Process is what a reader reaches behind a number.
type Process struct {
	ProcessNo   int32           `json:"process_no"`
	ProcessID   string          `json:"process_id"`
	Bundle      int             `json:"bundle"` // index into Report.Bundles
	Side        records.Side    `json:"side"`
	Round       int32           `json:"round"`
	Slot        int32           `json:"slot"`
	FirstInPair bool            `json:"first_in_pair"`
	StartedAt   time.Time       `json:"started_at,omitzero"`
	Outcome     records.Outcome `json:"outcome"`
	Detail      string          `json:"detail,omitempty"`
	ExitCode    *int32          `json:"exit_code,omitempty"`
	Signal      *int32          `json:"signal,omitempty"`
	// Values has one entry for each of Suite.Metrics; nil is absent. A failed
	// process keeps the values it has, but no median contains them.
	Values []*Number `json:"values"`

	MeasuredOperations *int64 `json:"measured_operations,omitempty"`
	ElapsedNs          *int64 `json:"elapsed_ns,omitempty"`
	SampleCount        *int64 `json:"sample_count,omitempty"`
	// SampleFile is relative to the bundle; SampleSHA256 is its manifest entry.
	SampleFile   string `json:"sample_file,omitempty"`
	SampleSHA256 string `json:"sample_sha256,omitempty"`
	// Stdout and Stderr are the first bytes of the output, invalid UTF-8
	// replaced, with the length and hash of the whole.
	Stdout       string `json:"stdout,omitempty"`
	StdoutBytes  int64  `json:"stdout_bytes"`
	StdoutSHA256 string `json:"stdout_sha256,omitempty"`
	Stderr       string `json:"stderr,omitempty"`
	StderrBytes  int64  `json:"stderr_bytes"`
	StderrSHA256 string `json:"stderr_sha256,omitempty"`
	// Latency is the process's own latency distribution: the nearest-rank
	// percentiles at DistributionPermyriads; nil without raw samples.
	Latency []int64 `json:"latency,omitempty"`
	Notes   []Note  `json:"notes,omitempty"`
}

// DistributionPermyriads are the percentiles (in units of 0.01 %) at which
// Process.Latency is given, ascending.
var DistributionPermyriads = []int{
	0, 100, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000, 5500,
	6000, 6500, 7000, 7500, 8000, 8500, 9000, 9500, 9700, 9900, 9950, 9990, 9999, 10000,
}

// Summary is the suite's sentence for one metric.
type Summary struct {
	Metric string `json:"metric"`
	// Lowest and Highest change over the suite's cells and the cells they are
	// in; nil when no change is computable.
	LowestPct   *Number `json:"lowest_pct,omitempty"`
	LowestCell  string  `json:"lowest_cell,omitempty"`
	HighestPct  *Number `json:"highest_pct,omitempty"`
	HighestCell string  `json:"highest_cell,omitempty"`
	// MedianPct is the median of the cells' changes.
	MedianPct *Number `json:"median_pct,omitempty"`
	// Overlapping of Comparable cells have overlapping ranges; NotComparable
	// cells are left out of both.
	Overlapping   int `json:"overlapping"`
	Comparable    int `json:"comparable"`
	NotComparable int `json:"not_comparable,omitempty"`
	// DisjointByChance is the number of disjoint cells that identical arms
	// would give on average; nil when arms have differing or no n.
	DisjointByChance *Number  `json:"disjoint_by_chance,omitempty"`
	GeomeanPct       *float64 `json:"geomean_pct,omitempty"`
}

// PanelResult is one group of cells with the same values of the panel factors.
type PanelResult struct {
	Factors []FactorValue `json:"factors"`
	// Cells are indices into Suite.Cells.
	Cells []int `json:"cells"`
	// MedianChangePct has one entry for each of Suite.Metrics: the median of
	// the cells' changes, nil when none is computable.
	MedianChangePct []*Number `json:"median_change_pct"`
}

// Totals counts what was measured, over all processes whose outcome is ok
// except where a name says otherwise.
type Totals struct {
	Processes          int   `json:"processes"` // all
	Failed             int   `json:"failed"`
	MeasuredOperations int64 `json:"measured_operations"`
	WarmupOperations   int64 `json:"warmup_operations"`
	Samples            int64 `json:"samples"`
	Errors             int64 `json:"errors"` // all processes
	// ErrorsUnstated counts the processes of which nobody knows.
	ErrorsUnstated    int    `json:"errors_unstated,omitempty"`
	ShortestElapsedNs *int64 `json:"shortest_elapsed_ns,omitempty"`
	LongestElapsedNs  *int64 `json:"longest_elapsed_ns,omitempty"`
	UnderOneSecond    int    `json:"under_one_second"`
	MissedTicks       *int64 `json:"missed_ticks,omitempty"`
}

// Count is the planned amount of one process.
type Count struct {
	Factors          []FactorValue `json:"factors"`
	Operations       *int64        `json:"operations,omitempty"`
	WarmupOperations *int64        `json:"warmup_operations,omitempty"`
	DurationNs       *int64        `json:"duration_ns,omitempty"`
	WarmupDurationNs *int64        `json:"warmup_duration_ns,omitempty"`
	Cells            int           `json:"cells"`
}

// Scope says where and when the numbers were taken.
type Scope struct {
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// Hosts has one entry for each bundle with its own host facts.
	Hosts []Host `json:"hosts"`
	// Versions are what the drivers and services said, name to the distinct
	// values seen.
	Versions map[string][]string `json:"versions,omitempty"`
	// Runtime are the drivers' settings that matter, name to distinct values.
	Runtime map[string][]string `json:"runtime,omitempty"`
	// Inputs are the roots of the hash lock: binaries, sources, plan.
	Inputs []records.Input `json:"inputs,omitempty"`
	// RSSSources, ClientCPUs and ServerCPUs are the distinct values seen.
	RSSSources []string `json:"rss_sources,omitempty"`
	ClientCPUs []string `json:"client_cpus,omitempty"`
	ServerCPUs []string `json:"server_cpus,omitempty"`
}

// Host is the machine of one bundle.
type Host struct {
	Bundle int                `json:"bundle"`
	Facts  []records.HostFact `json:"facts"`
}

// Failure is a process that is in no median.
type Failure struct {
	Suite     string          `json:"suite"`
	CellID    string          `json:"cell_id"`
	ProcessNo int32           `json:"process_no"`
	ProcessID string          `json:"process_id"`
	Outcome   records.Outcome `json:"outcome"`
	Detail    string          `json:"detail,omitempty"`
}

// Note is a doubt beside a number: a code that render has words for, with the
// values the words need.
type Note struct {
	// Code is one of the Note* constants.
	Code string `json:"code"`
	// Metric, when set, is the metric the note is about.
	Metric string `json:"metric,omitempty"`
	// Values are the note's figures and names, in the order its words use them.
	Values []string `json:"values,omitempty"`
}

// PositionOfFloor says that a position effect is that of the A/A analysis.
const PositionOfFloor = "floor"

// The codes of notes.
const (
	NoteShortIntervals   = "short_intervals"  // count, total
	NoteFewTailSamples   = "few_tail_samples" // metric; smallest tail count, processes
	NoteOrderBalance     = "order_balance"    // A-first pairs, pairs
	NoteDrift            = "drift"            // metric; tau, p, n
	NoteLevelChange      = "level_change"     // process ids
	NoteLittlesLaw       = "littles_law"      // found, expected
	NoteMissedTicks      = "missed_ticks"     // count, processes
	NoteDisturbed        = "disturbed"        // what, process ids
	NoteFewerCores       = "fewer_cores"      // needed, there
	NoteImported         = "imported"         // format
	NoteLockIncomplete   = "lock_incomplete"  // gaps
	NoteFailedProcesses  = "failed_processes" // count
	NoteStatedLatency    = "stated_latency"   // processes whose percentiles are stated, not computed
	NoteSamePosition     = "position_effect"  // metric; pct, and PositionOfFloor
	NoteNotPaired        = "not_paired"       // reason
	NoteNotComparable    = "not_comparable"   // what differs
	NoteUnpinned         = "unpinned"         // processes
	NoteCollectorPolling = "polling_owner"    // an owner that polls keeps a core awake
)
