package i18n

import "pairbench/render/numfmt"

// The languages, as tags in file names and attributes.
const (
	English           = "en"
	SimplifiedChinese = "zh-CN"
)

// Languages lists the tags of all catalogues; the first is the fallback.
func Languages() []string { return []string{English, SimplifiedChinese} }

// For returns the catalogue of a language tag; ok is false for an unknown one.
func For(tag string) (w *Words, ok bool) {
	switch tag {
	case English:
		return english(), true
	case SimplifiedChinese:
		return chinese(), true
	default:
		return nil, false
	}
}

// Words is the catalogue of one language. Every field is set in every
// language; a test holds that.
type Words struct {
	Tag      string // en
	Language string // the language's own name
	// ListComma joins the items of a list in a sentence, Colon a name and what
	// it is, Space two clauses that follow each other.
	ListComma, Colon, Space string

	Names     Names
	Headings  Headings
	Columns   Columns
	Sentences Sentences
	Method    Method
	Notes     Notes
	Scope     Scope
	Page      Page
	Terminal  Terminal
	OpenLoop  OpenLoop

	// Number is a small count in words ("three"), digits from thirteen on.
	Number func(n int) string
	// NumberRange joins two of those.
	NumberRange func(low, high string) string
	// ChangeRange joins the lowest and the highest change in prose.
	ChangeRange func(low, high string) string
}

// Names are the words for codes of the report.
type Names struct {
	Metric        func(id string) string // an unknown id is returned as it is
	Unit          func(u numfmt.Unit) string
	Factor        func(name string) string // a factor without a label in the plan
	Cadence       func(value string) (string, bool)
	Outcome       func(code string) string
	Order         func(kind string) string
	Fact          func(name string) string // a host fact
	CPUCovers     func(code string) string
	CPUScope      func(code string) string
	LatencyCovers func(code string) string
	RSSSource     func(code string) string
	ServiceMode   func(code string) string
	Disturbance   func(code string) string // what took processor time away
	Reason        func(code string) string // why a change or overlap is absent
	Inference     func(method string) string
	Circumstance  func(code string) string // what two bundles do not share
	Yes, No       string
	// Inside and Outside place a change against those of equal arms.
	Inside, Outside string
	Complete        string
	Incomplete      string
	Absent          string // a fact that nobody recorded
	NotComputable   string // a number that does not exist
	Median          string
	Other           string // a lock that is neither complete nor incomplete
}

// Headings are the titles of sections.
type Headings struct {
	Findings, Compared, Reading, Scope, Counts, Evidence, Limits, Processes, Failures, Notes,
	Changes, Results, Position, Charts, Distribution, History, Order, Latency, ThroughputAndCPU, Inference, Inputs string
}

// Columns are the titles of columns and fields.
type Columns struct {
	Suite, Cell, Metric, Change, Overlap, LowestChange, HighestChange, MedianChange, Configuration,
	NotComputable, DisjointByChance, Panel, ConnectionsOutstanding,
	Process, Arm, Round, Slot, First, Started, Outcome, Exit, Operations, Elapsed, Samples, Output, SampleFile, Detail,
	Stdout, Stderr, Hash, Bytes,
	Fact, Value, Source,
	MeasuredPerProcess, WarmupPerProcess, Cells, Processes,
	Bundle, Identity, Lock, Interval, Gaps, Kind, Name, Side, Method, Estimate, Interval95, Level, P, PAdjusted string
	EfficiencyChange, Floor string
}

// Sentences are the report's prose.
type Sentences struct {
	// Question asks what the study asks, with the labels of A and B.
	Question func(a, b string) string
	// QuestionAA is asked instead when both arms were one program.
	QuestionAA string
	// Overview counts what was done. perArm is in words.
	Overview func(suites, cells, processes int, perArm string) string
	// OverviewImported counts what was imported, where nobody here knows how it
	// was run.
	OverviewImported func(suites, cells, processes int, perArm string) string
	// SuiteChange is the suite summary of one metric; overlap is k/n.
	SuiteChange func(metric, changes, overlap string) string
	// SuiteChangeAA says the same where both arms were one program.
	SuiteChangeAA func(metric, changes, overlap string) string
	// ArmAA tells the two sides of an A/A study apart: the arm that ran, A or B.
	ArmAA func(arm, side string) string
	// NoChange says that no change of the metric is computable.
	NoChange func(metric string) string
	// MedianChange is the median of the cells' changes.
	MedianChange func(change string) string
	// NotComputable counts cells left out of a summary.
	NotComputable func(n int) string
	// Chance says how many disjoint cells chance alone would give.
	Chance func(disjoint, comparable int, expected string) string
	// NoSignificance says what is not claimed.
	NoSignificance string
	// LargestFall and LargestRise name a metric's extreme change and its cell.
	LargestFall, LargestRise func(metric, change, cell string) string
	AllOverlap               func(metric, overlap string) string
	Alternation              func(order, rounds string) string
	RangeMeaning             func(perArm string) string
	// Totals leaves out operations and warm-up operations that are empty.
	Totals           func(processes, operations, warmup, samples string) string
	Intervals        func(shortest, longest, under, total string) string
	OutsideIntervals string
	Errors           func(errors string, failed int) string
	AllChecked       string
	ImportedChecked  string
	FailedExcluded   func(n int) string
	AA               string
	Imported         func(format string) string
	// ImportedStated is Imported where there are percentiles.
	ImportedStated            func(format string) string
	ImportedSamples           func(format, samples string) string
	ArmRevision               func(arm, revision string) string
	Caption                   func(metric, unit string, better string) string
	CellsHave                 func(perArm string) string
	Signal                    func(number string) string
	NUnusual                  func(n int) string
	MoreOutput                func(bytes string) string
	NoOutput                  string
	NoSamples                 string
	BetterHigher              string
	BetterLower               string
	BetterNeither             string
	ChartBars                 func(metric, unit, axis string) string
	ChartECDF                 string
	ChartOrder                func(metric string) string
	ChartOrderImported        func(metric string) string
	ChartHistory              func(metric string) string
	Floor                     func(differences string, cells, inside, changes int) string
	NeedN                     func(n int) string
	ModelBased                string
	ServiceLine               func(name, version, mode, address string) string
	Verify                    string
	VerifyByHand              string
	LockCovers                string
	LockComplete              string
	LockIncomplete            func(gaps int) string
	Tool                      func(version string) string
	FirstOfPair, SecondOfPair string
	ProcessesIntro            string
	GroupRest                 string
}

// Method explains how numbers come about, one item each.
type Method struct {
	Median, Change, Overlap, Percentile, CPU, Efficiency, RSS, Rounding, Intervals string
	// ImportedIntervals is Intervals of what was imported.
	ImportedIntervals string
	// RunTime and RSSOfRun are said of programs that are measured whole.
	RunTime, RSSOfRun string
}

// Notes are the words for doubts beside a number. Arguments are the note's
// values in the order that package report documents; a missing one is "?".
type Notes struct {
	ShortIntervals   func(count, total string) string
	FewTailSamples   func(metric, tail, processes string) string
	OrderBalance     func(aFirst, pairs string) string
	Drift            func(metric, tau, p, n string) string
	LevelChange      func(processes string) string
	LittlesLaw       func(found, expected string) string
	MissedTicks      func(count, processes string) string
	Disturbed        func(what, processes string) string
	DisturbedMany    func(what, processes, all, cells, allCells string) string
	FewerCores       func(needed, there string) string
	Imported         func(format string) string
	LockIncomplete   func(gaps string) string
	FailedProcesses  func(count string) string
	StatedLatency    func(processes string) string
	SamePosition     func(metric, pct string) string
	PositionOfFloor  func(metric, pct string) string // the same, in the A/A collection
	NotPaired        func(reason string) string
	NotComparable    func(what string) string
	Unpinned         func(processes string) string
	CollectorPolling string
	Unknown          func(code, values string) string
}

// Scope labels what is said about where the numbers were taken, and Limits says
// what they do not show.
type Scope struct {
	Time, Tool, Study, Plan, Order, Rounds, Arms, Operation, Service, CPU, Latency, RSS, ClientCPUs, ServerCPUs,
	Version, Runtime, Host, Constant, Seed string
	LimitChange, LimitChangeAA, LimitChangeRuns, LimitHost, LimitSaturation, LimitRSS, LimitShort, LimitImported string
}

// Page holds the words of the HTML page's own controls.
type Page struct {
	Filter, FilterHint, Close, Sort, Contents, SkipToContent,
	DrillHint, NoMatch, VegaSpec, ChartFile string
	RowsShown string // "{k} / {n}" with these two marks
}

// Terminal holds the words of the summary after a run.
type Terminal struct {
	Overlap, Difference, MoreFailures string
}

// OpenLoop holds what is said of requests that had a schedule.
type OpenLoop struct {
	// Metric names latencies as service times, beside response times, and gives
	// every other id back.
	Metric func(id string) string
	// Method tells the two times apart, Limit what they do not show.
	Method, Limit string
}

// Scheduled are the words for a report with open loops, in which the latency of
// a request is its service time and stands beside its response time.
func (w *Words) Scheduled() *Words {
	c := *w
	c.Names.Metric = func(id string) string {
		if name := w.OpenLoop.Metric(id); name != id {
			return name
		}
		return w.Names.Metric(id)
	}
	return &c
}
