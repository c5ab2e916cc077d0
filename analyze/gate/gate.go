package gate

import (
	"slices"

	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/records"
)

// Verdict is what a gate says.
type Verdict string

// The verdicts, from the best to the worst: a result has its worst check's.
const (
	Pass         Verdict = "pass"
	Inconclusive Verdict = "inconclusive"
	Regression   Verdict = "regression"
	Invalid      Verdict = "invalid_evidence"
)

var order = []Verdict{Pass, Inconclusive, Regression, Invalid}

func worse(a, b Verdict) Verdict {
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// The reasons of verdicts that are neither pass nor regression.
const (
	ReasonFailedProcesses = "failed_processes"  // the cell has processes that are in no median
	ReasonArmMissing      = "arm_missing"       // an arm has no value
	ReasonNotComputable   = "not_computable"    // a value is zero or negative
	ReasonNotComparable   = "not_comparable"    // separate collections that differ in host, plan or services
	ReasonNoSuchMetric    = "no_such_metric"    // no suite in reach of the threshold has the metric
	ReasonTooFew          = "too_few_processes" // NeedN would be enough
	ReasonStraddles       = "limit_in_interval" // the interval holds the limit
	ReasonInsideFloor     = "inside_floor"      // an A/A collection changes as much
)

// Result is the answer for all thresholds.
type Result struct {
	Verdict Verdict `json:"verdict"`
	Study   string  `json:"study"`
	// Checks has one entry for each threshold and cell in its reach, or one
	// without a cell where nothing is in reach.
	Checks []Check `json:"checks"`
	// Counts is how many checks have each verdict.
	Counts map[Verdict]int `json:"counts"`
}

// Check is one threshold at one cell.
type Check struct {
	Threshold string  `json:"threshold"`
	Suite     string  `json:"suite,omitempty"`
	Cell      string  `json:"cell,omitempty"`
	Metric    string  `json:"metric"`
	Verdict   Verdict `json:"verdict"`
	Reason    string  `json:"reason,omitempty"`
	// NA and NB are the processes in the medians; NeedN is how many each arm
	// would need for an interval.
	NA    int `json:"n_a"`
	NB    int `json:"n_b"`
	NeedN int `json:"need_n,omitempty"`
	// ChangePct is that of the medians, exact.
	ChangePct *report.Number `json:"change_pct,omitempty"`
	Interval  *Interval      `json:"interval,omitempty"`
}

// Interval is the evidence of a check.
type Interval struct {
	Method  string  `json:"method"` // range_ratio or hodges_lehmann
	LowPct  float64 `json:"low_pct"`
	HighPct float64 `json:"high_pct"`
	Level   float64 `json:"level"` // attained
}

// The processes per arm from which there is an interval, and from which it is
// the narrower one of Hodges and Lehmann at 95 %.
const (
	minRange         = 3
	minHodgesLehmann = 5
	level            = 0.95
)

// Run checks a report against thresholds.
func Run(r *report.Report, thresholds []Threshold) Result {
	result := Result{Verdict: Pass, Study: r.Study.ID, Counts: map[Verdict]int{}}
	comparable := !slices.ContainsFunc(r.Notes, func(n report.Note) bool { return n.Code == report.NoteNotComparable })
	add := func(c Check) {
		result.Checks = append(result.Checks, c)
		result.Counts[c.Verdict]++
		result.Verdict = worse(result.Verdict, c.Verdict)
	}
	for _, t := range thresholds {
		found := false
		for i := range r.Suites {
			s := &r.Suites[i]
			m := slices.IndexFunc(s.Metrics, func(m report.Metric) bool { return m.ID == t.Metric })
			if m < 0 || (t.Suite != "" && t.Suite != s.ID) {
				continue
			}
			for c := range s.Cells {
				found = true
				add(check(t, s, &s.Cells[c], m, comparable))
			}
		}
		if !found {
			add(Check{Threshold: t.String(), Suite: t.Suite, Metric: t.Metric, Verdict: Invalid, Reason: ReasonNoSuchMetric})
		}
	}
	return result
}

func check(t Threshold, s *report.Suite, cell *report.Cell, metricNo int, comparable bool) Check {
	comparison := &cell.Comparisons[metricNo]
	c := Check{
		Threshold: t.String(), Suite: s.ID, Cell: cell.ID, Metric: t.Metric,
		NA: comparison.A.N, NB: comparison.B.N, ChangePct: comparison.ChangePct,
	}
	failed := slices.ContainsFunc(cell.Processes, func(p report.Process) bool { return p.Outcome != records.OutcomeOK })
	switch {
	case !comparable:
		c.Verdict, c.Reason = Invalid, ReasonNotComparable
	case failed:
		c.Verdict, c.Reason = Invalid, ReasonFailedProcesses
	case c.NA == 0 || c.NB == 0:
		c.Verdict, c.Reason = Invalid, ReasonArmMissing
	case c.ChangePct == nil:
		c.Verdict, c.Reason = Invalid, ReasonNotComputable
	case min(c.NA, c.NB) < minRange:
		c.Verdict, c.Reason, c.NeedN = Inconclusive, ReasonTooFew, minRange
	default:
		decide(&c, t, comparison, interval(cell, metricNo))
	}
	return c
}

// interval is the evidence for the change of one cell; nil where a value is not
// positive.
func interval(cell *report.Cell, metricNo int) *Interval {
	var values [2][]float64
	for i, side := range records.Sides {
		for _, p := range cell.Processes {
			if p.Side == side && p.Values[metricNo] != nil {
				values[i] = append(values[i], p.Values[metricNo].Float())
			}
		}
	}
	method := "range_ratio"
	found, ok := stat.RangeRatio(values[0], values[1])
	if min(len(values[0]), len(values[1])) >= minHodgesLehmann {
		if narrower, better := stat.HodgesLehmann(values[0], values[1], level); better {
			found, ok, method = narrower, true, "hodges_lehmann"
		}
	}
	if !ok {
		return nil
	}
	return &Interval{Method: method, LowPct: found.Low, HighPct: found.High, Level: found.Level}
}

func decide(c *Check, t Threshold, comparison *report.Comparison, found *Interval) {
	if found == nil {
		c.Verdict, c.Reason = Invalid, ReasonNotComputable
		return
	}
	c.Interval = found
	limit, _ := t.LimitPct.Float64()
	var inside, outside bool
	switch t.Rule {
	case AtLeast:
		inside, outside = found.LowPct >= limit, found.HighPct < limit
	case AtMost:
		inside, outside = found.HighPct <= limit, found.LowPct > limit
	case Within:
		inside = found.LowPct >= -limit && found.HighPct <= limit
		outside = found.HighPct < -limit || found.LowPct > limit
	}
	switch {
	case inside:
		c.Verdict = Pass
	case outside && comparison.Floor != nil && comparison.Floor.Inside:
		c.Verdict, c.Reason = Inconclusive, ReasonInsideFloor
	case outside:
		c.Verdict = Regression
	default:
		c.Verdict, c.Reason = Inconclusive, ReasonStraddles
	}
}
