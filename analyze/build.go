package analyze

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"pairbench/analyze/metric"
	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/records"
	"pairbench/records/digest"
)

// outputExcerpt bounds what a report repeats of a process's output, in bytes.
const outputExcerpt = 1024

// build assembles the report with every metric that has values. What a suite
// shows is selected afterwards, so that the tables can hold all of them.
func (st *study) build(toolVersion string) *report.Report {
	first := st.inputs[0]
	r := &report.Report{
		SchemaVersion: report.SchemaVersion,
		ToolVersion:   toolVersion,
		Study: report.Study{
			ID: first.run.Study, Title: report.Text(first.run.Title),
			Profile: first.run.Profile, Layout: first.run.Layout,
			Rounds: first.run.Rounds, Order: first.run.Order, AA: first.run.AA,
			PlanSHA256: planHash(first.run),
			Origin:     first.run.Origin, ImportFormat: first.run.ImportFormat,
		},
		Notes: st.notes,
		Scope: st.scope(),
	}
	for i, arm := range first.run.Arms {
		r.Study.Arms[i] = report.Arm{Side: arm.Side, Name: arm.Name, Label: report.Text(arm.Label), Revision: arm.Revision, Digest: arm.Digest}
	}
	for _, in := range st.inputs {
		r.Bundles = append(r.Bundles, report.Bundle{
			Identity: in.identity, Name: in.name, Shard: in.run.Shard,
			StartedAt: in.run.StartedAt.UTC(), EndedAt: in.run.EndedAt.UTC(),
			Lock: in.run.Lock, LockGaps: in.run.LockGaps, Resumes: in.run.Resumes,
		})
	}
	for _, s := range st.suites {
		built := st.buildSuite(s)
		r.Suites = append(r.Suites, built)
		addTotals(&r.Totals, built.Totals)
		for i := range built.Cells {
			for _, p := range built.Cells[i].Processes {
				r.Study.Rounds = max(r.Study.Rounds, int(p.Round))
				if p.Outcome != records.OutcomeOK {
					r.Failures = append(r.Failures, report.Failure{
						Suite: s.run.ID, CellID: built.Cells[i].ID, ProcessNo: p.ProcessNo,
						ProcessID: p.ProcessID, Outcome: p.Outcome, Detail: p.Detail,
					})
				}
			}
		}
	}
	slices.SortStableFunc(r.Failures, func(a, b report.Failure) int { return cmp.Compare(a.ProcessNo, b.ProcessNo) })
	return r
}

func (st *study) buildSuite(s *suite) report.Suite {
	out := report.Suite{
		ID: s.run.ID, Title: report.Text(s.run.Title), Profile: cmp.Or(s.run.Profile, st.inputs[0].run.Profile),
		Workload: s.run.Workload, Panel: s.run.Panel, Factors: slices.Clone(s.run.Factors),
		CPUScope: s.cpuScope(), CPUCovers: s.run.CPUCovers, LatencyCovers: s.run.LatencyCovers,
		Service: s.run.Service, Counts: s.counts(), Totals: s.totals(),
	}
	for _, note := range s.run.Notes {
		out.PlanNotes = append(out.PlanNotes, report.Text(note))
	}
	for _, m := range s.metrics {
		out.Metrics = append(out.Metrics, report.Metric{ID: m.ID, Unit: m.Unit, Better: m.Better})
	}
	for _, c := range s.cells {
		out.Cells = append(out.Cells, st.buildCell(s, c))
	}
	for m := range s.metrics {
		out.Summaries = append(out.Summaries, summarise(out.Cells, m, s.metrics[m].ID))
	}
	out.Panels = panels(&out)
	out.Notes = st.suiteNotes(s)
	return out
}

// cpuScope is what the suite's processes say of their CPU time, where they
// agree: a program that does not speak the protocol is measured whole, whatever
// its plan asks for.
func (s *suite) cpuScope() records.CPUScope {
	var found records.CPUScope
	for _, c := range s.cells {
		for _, p := range c.processes {
			switch {
			case p.CPUScope == nil || *p.CPUScope == found:
			case found == "":
				found = *p.CPUScope
			default:
				return s.run.CPUScope
			}
		}
	}
	return cmp.Or(found, s.run.CPUScope)
}

func (st *study) buildCell(s *suite, c *cell) report.Cell {
	out := report.Cell{ID: c.CellID, Notes: st.cellNotes(s, c)}
	for _, f := range s.run.Factors {
		// A factor that the cell lacks, in a joined or imported table, is empty.
		value, kind := "", f.Kind
		if v, ok := c.Factor(f.Name); ok {
			value, kind = v.String(), v.Kind
		}
		out.Factors = append(out.Factors, report.FactorValue{Name: f.Name, Kind: kind, Value: value})
	}
	index := metricIndex(s.metrics)
	for i, m := range s.metrics {
		out.Comparisons = append(out.Comparisons, compare(m.ID, c.values(records.SideA, index[i]), c.values(records.SideB, index[i])))
	}
	for _, p := range c.processes {
		out.Processes = append(out.Processes, p.build(st, index))
	}
	return out
}

// metricIndex returns where each metric stands in metric.All.
func metricIndex(metrics []metric.Metric) []int {
	at := map[string]int{}
	for i, m := range metric.All() {
		at[m.ID] = i
	}
	index := make([]int, len(metrics))
	for i, m := range metrics {
		index[i] = at[m.ID]
	}
	return index
}

// values returns a metric of the processes of one side that are in its median.
func (c *cell) values(side records.Side, metricNo int) []*big.Rat {
	var values []*big.Rat
	for _, p := range c.processes {
		if p.side == side && p.ok() && p.values[metricNo] != nil {
			values = append(values, p.values[metricNo])
		}
	}
	return values
}

func (p *process) build(st *study, index []int) report.Process {
	out := report.Process{
		ProcessNo: p.ProcessNo, ProcessID: p.ProcessID, Bundle: p.bundle, Side: p.side,
		Round: p.round, Slot: p.Slot, FirstInPair: p.FirstInPair && !st.notPaired,
		Outcome: p.Outcome, ExitCode: p.ExitCode, Signal: p.Signal,
		MeasuredOperations: p.MeasuredOperations, ElapsedNs: p.ElapsedNs, SampleCount: p.SampleCount,
		Stdout: excerpt(p.Stdout), StdoutBytes: p.StdoutBytes, StdoutSHA256: p.StdoutSHA256,
		Stderr: excerpt(p.Stderr), StderrBytes: p.StderrBytes, StderrSHA256: p.StderrSHA256,
		Latency: p.samples.latency, Notes: p.notes(),
	}
	if p.StartedAt != nil {
		out.StartedAt = p.StartedAt.UTC()
	}
	if p.OutcomeDetail != nil {
		out.Detail = *p.OutcomeDetail
	}
	if path, sha256, ok := p.in.sampleFile(p.ProcessNo); ok {
		out.SampleFile, out.SampleSHA256 = path, sha256
	}
	for _, i := range index {
		out.Values = append(out.Values, numberOf(p.values[i]))
	}
	return out
}

// excerpt is the beginning of an output as valid UTF-8.
func excerpt(output []byte) string {
	if len(output) > outputExcerpt {
		output = output[:outputExcerpt]
	}
	return strings.ToValidUTF8(string(output), "\uFFFD")
}

// numberOf returns r as a Number of its own, or nil.
func numberOf(r *big.Rat) *report.Number {
	if r == nil {
		return nil
	}
	n := report.NewNumber(new(big.Rat).Set(r))
	return &n
}

func armSummary(values []*big.Rat) report.ArmSummary {
	low, high := stat.Range(values)
	return report.ArmSummary{N: len(values), Median: numberOf(stat.Median(values)), Min: numberOf(low), Max: numberOf(high)}
}

// The reasons why something is not computable.
const (
	reasonArmMissing = "arm_missing"
	reasonZero       = "median_a_zero"
	reasonOneProcess = "one_process"
)

// compare puts the values of both sides beside each other.
func compare(id string, a, b []*big.Rat) report.Comparison {
	c := report.Comparison{Metric: id, A: armSummary(a), B: armSummary(b)}
	if len(a) == 0 || len(b) == 0 {
		c.ChangeReason, c.OverlapReason = reasonArmMissing, reasonArmMissing
		return c
	}
	if change, ok := stat.ChangePct(c.A.Median.Rat(), c.B.Median.Rat()); ok {
		c.ChangePct = numberOf(change)
	} else {
		c.ChangeReason = reasonZero
	}
	if len(a) == 1 || len(b) == 1 {
		c.OverlapReason = reasonOneProcess
		return c
	}
	overlap := stat.Overlap(c.A.Min.Rat(), c.A.Max.Rat(), c.B.Min.Rat(), c.B.Max.Rat())
	c.Overlap = &overlap
	return c
}

func summarise(cells []report.Cell, metricNo int, id string) report.Summary {
	s := report.Summary{Metric: id}
	chance := new(big.Rat)
	var changes []*big.Rat
	for i := range cells {
		c := &cells[i].Comparisons[metricNo]
		if c.ChangePct != nil {
			changes = append(changes, c.ChangePct.Rat())
			if s.LowestPct == nil || c.ChangePct.Rat().Cmp(s.LowestPct.Rat()) < 0 {
				s.LowestPct, s.LowestCell = c.ChangePct, cells[i].ID
			}
			if s.HighestPct == nil || c.ChangePct.Rat().Cmp(s.HighestPct.Rat()) > 0 {
				s.HighestPct, s.HighestCell = c.ChangePct, cells[i].ID
			}
		}
		if c.Overlap == nil {
			s.NotComparable++
			continue
		}
		s.Comparable++
		if *c.Overlap {
			s.Overlapping++
		}
		chance.Add(chance, stat.DisjointProbability(c.A.N, c.B.N))
	}
	s.MedianPct = numberOf(stat.Median(changes))
	if s.Comparable > 0 {
		s.DisjointByChance = numberOf(chance)
	}
	return s
}

// panels groups the cells by the panel factors, in the order of the first cell
// of each group.
func panels(s *report.Suite) []report.PanelResult {
	groups := map[string]int{}
	var out []report.PanelResult
	for i := range s.Cells {
		var factors []report.FactorValue
		var key strings.Builder
		for _, f := range s.Cells[i].Factors {
			if slices.Contains(s.Panel, f.Name) {
				factors = append(factors, f)
				key.WriteString(f.Value)
				key.WriteByte(0)
			}
		}
		at, ok := groups[key.String()]
		if !ok {
			at = len(out)
			groups[key.String()] = at
			out = append(out, report.PanelResult{Factors: factors})
		}
		out[at].Cells = append(out[at].Cells, i)
	}
	for g := range out {
		for m := range s.Metrics {
			var changes []*big.Rat
			for _, i := range out[g].Cells {
				if c := s.Cells[i].Comparisons[m].ChangePct; c != nil {
					changes = append(changes, c.Rat())
				}
			}
			out[g].MedianChangePct = append(out[g].MedianChangePct, numberOf(stat.Median(changes)))
		}
	}
	return out
}

// planHash is the hash of the plan; "" for an import without one, whose plan
// file is empty.
func planHash(run records.Run) string {
	if run.Origin == "imported" && run.PlanSHA256 == digest.Sum(nil).String() {
		return ""
	}
	return run.PlanSHA256
}

// show keeps, in every suite, the metrics that the plan names, or the default
// ones of its profile, as far as they have values.
func (st *study) show(r *report.Report) {
	for i := range r.Suites {
		s := &r.Suites[i]
		wanted := st.suites[i].run.Metrics
		if len(wanted) == 0 {
			wanted = metric.Default(s.Profile)
		}
		var keep []int
		for _, id := range wanted {
			if at := slices.IndexFunc(s.Metrics, func(m report.Metric) bool { return m.ID == id }); at >= 0 && !slices.Contains(keep, at) {
				keep = append(keep, at)
			}
		}
		s.Metrics = pick(s.Metrics, keep)
		s.Notes = notesOn(s.Metrics, s.Notes)
		s.Summaries = pick(s.Summaries, keep)
		for c := range s.Cells {
			s.Cells[c].Comparisons = pick(s.Cells[c].Comparisons, keep)
			s.Cells[c].Notes = notesOn(s.Metrics, s.Cells[c].Notes)
			for p := range s.Cells[c].Processes {
				s.Cells[c].Processes[p].Values = pick(s.Cells[c].Processes[p].Values, keep)
			}
		}
		for p := range s.Panels {
			s.Panels[p].MedianChangePct = pick(s.Panels[p].MedianChangePct, keep)
		}
	}
}

// notesOn leaves out the notes about metrics that are not shown.
func notesOn(shown []report.Metric, notes []report.Note) []report.Note {
	return slices.DeleteFunc(notes, func(n report.Note) bool {
		return n.Metric != "" && !slices.ContainsFunc(shown, func(m report.Metric) bool { return m.ID == n.Metric })
	})
}

// pick returns the elements at the given places, in their order.
func pick[T any](from []T, at []int) []T {
	picked := make([]T, len(at))
	for i, j := range at {
		picked[i] = from[j]
	}
	return picked
}
