package layout

import (
	"slices"
	"strings"

	"pairbench/analyze/report"
	"pairbench/render/numfmt"
)

// findings is what a reader in a hurry takes away: failures first, a sentence
// and a line of a table for each suite and metric, and what is not claimed.
func (b *builder) findings() []Block {
	r, w := b.r, b.w
	var blocks []Block
	if r.Totals.Failed > 0 {
		blocks = append(blocks, Callout{w.Sentences.FailedExcluded(r.Totals.Failed)})
	}
	if r.Study.AA {
		blocks = append(blocks, Callout{w.Sentences.AA})
	}
	if h := b.highlights(); len(h.Items) > 0 {
		blocks = append(blocks, h)
	}
	if r.Study.Layout == Release {
		blocks = append(blocks, b.extremes()...)
	} else {
		for i := range r.Suites {
			if s := &r.Suites[i]; len(s.Metrics) > 0 {
				blocks = append(blocks, Paragraph{b.suiteTitle(s) + w.Colon + b.suiteSentence(s, 0)})
			}
		}
	}
	blocks = append(blocks, b.summaryTable())
	var chance []string
	for i := range r.Suites {
		s := &r.Suites[i]
		if len(s.Summaries) == 0 {
			continue
		}
		if text := b.chance(&s.Summaries[0]); text != "" {
			chance = append(chance, b.suiteTitle(s)+w.Colon+b.metric(s.Metrics[0])+w.Colon+text)
		}
	}
	if len(chance) > 0 {
		blocks = append(blocks, List{chance})
	}
	blocks = append(blocks, Paragraph{w.Sentences.NoSignificance})
	if items := b.notes(r.Notes); len(items) > 0 {
		blocks = append(blocks, Subheading{"doubts", w.Headings.Notes}, List{items})
	}
	if len(r.Failures) > 0 {
		blocks = append(blocks, Subheading{"failures", w.Headings.Failures}, b.failures())
	}
	return blocks
}

// highlights gives each suite's first metric a figure of its own.
func (b *builder) highlights() Highlights {
	var h Highlights
	for i := range b.r.Suites {
		s := &b.r.Suites[i]
		if len(s.Summaries) == 0 || s.Summaries[0].LowestPct == nil || s.Summaries[0].HighestPct == nil {
			continue
		}
		sum := &s.Summaries[0]
		figure := b.changeRange(s, sum)
		text := b.metric(s.Metrics[0])
		if sum.Comparable > 0 {
			text += " · " + b.w.Columns.Overlap + " " + numfmt.Share(sum.Overlapping, sum.Comparable)
		}
		h.Items = append(h.Items, Highlight{b.suiteTitle(s), figure, text})
	}
	return h
}

func (b *builder) summaryTable() *Table {
	w := b.w
	t := &Table{ID: "summary", Columns: []Column{
		{Title: w.Columns.Suite}, {Title: w.Columns.Metric}, {Title: w.Columns.LowestChange, Numeric: true}, {Title: w.Columns.HighestChange, Numeric: true},
		{Title: w.Columns.MedianChange, Numeric: true}, {Title: w.Columns.Overlap, Numeric: true}, {Title: w.Columns.DisjointByChance, Numeric: true},
	}}
	for i := range b.r.Suites {
		s := &b.r.Suites[i]
		for m, sum := range s.Summaries {
			extreme := func(n *report.Number, cell string) Cell {
				if n == nil {
					return b.absentCell("")
				}
				return Cell{Text: b.change(s, n), Sort: float(n), Hint: b.cellName(s, cell), Behind: b.behindID(i, cell, m)}
			}
			row := Row{[]Cell{{Text: b.suiteTitle(s)}, {Text: b.metric(s.Metrics[m])}, extreme(sum.LowestPct, sum.LowestCell), extreme(sum.HighestPct, sum.HighestCell)}}
			if sum.MedianPct == nil {
				row.Cells = append(row.Cells, b.absentCell(""))
			} else {
				row.Cells = append(row.Cells, Cell{Text: b.change(s, sum.MedianPct), Sort: float(sum.MedianPct)})
			}
			if sum.Comparable == 0 {
				row.Cells = append(row.Cells, b.absentCell(""))
			} else {
				share := float64(sum.Overlapping) / float64(sum.Comparable)
				row.Cells = append(row.Cells, Cell{Text: numfmt.Share(sum.Overlapping, sum.Comparable), Sort: &share})
			}
			if sum.DisjointByChance == nil {
				row.Cells = append(row.Cells, b.absentCell(""))
			} else {
				row.Cells = append(row.Cells, Cell{Text: expected(sum.DisjointByChance), Sort: float(sum.DisjointByChance)})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// extremes is the paragraph of a release: per metric the largest fall and rise
// over all configurations, and how many ranges overlap.
func (b *builder) extremes() []Block {
	w := b.w
	type extreme struct {
		suite *report.Suite
		value *report.Number
		cell  string
	}
	var order []string
	low, high := map[string]extreme{}, map[string]extreme{}
	overlapping, comparable := map[string]int{}, map[string]int{}
	names := map[string]string{}
	for i := range b.r.Suites {
		s := &b.r.Suites[i]
		for m, sum := range s.Summaries {
			id := s.Metrics[m].ID
			if _, known := names[id]; !known {
				order = append(order, id)
				names[id] = b.metric(s.Metrics[m])
			}
			overlapping[id] += sum.Overlapping
			comparable[id] += sum.Comparable
			if n := sum.LowestPct; n != nil && (low[id].value == nil || n.Rat().Cmp(low[id].value.Rat()) < 0) {
				low[id] = extreme{s, n, sum.LowestCell}
			}
			if n := sum.HighestPct; n != nil && (high[id].value == nil || n.Rat().Cmp(high[id].value.Rat()) > 0) {
				high[id] = extreme{s, n, sum.HighestCell}
			}
		}
	}
	var items []string
	for _, id := range order {
		if comparable[id] == 0 && low[id].value == nil {
			continue
		}
		var fall, rise, overlap string
		if e := low[id]; e.value != nil && e.value.Sign() < 0 {
			fall = w.Sentences.LargestFall(names[id], b.change(e.suite, e.value), b.configuration(e.suite, e.cell))
		}
		if e := high[id]; e.value != nil && e.value.Sign() > 0 {
			rise = w.Sentences.LargestRise(names[id], b.change(e.suite, e.value), b.configuration(e.suite, e.cell))
		}
		if comparable[id] > 0 {
			overlap = w.Sentences.AllOverlap(names[id], numfmt.Share(overlapping[id], comparable[id]))
		}
		items = append(items, b.sentences(fall, rise, overlap))
	}
	if len(items) == 0 {
		return nil
	}
	return []Block{List{items}}
}

// configuration names a cell across suites.
func (b *builder) configuration(s *report.Suite, cell string) string {
	name := b.cellName(s, cell)
	if len(b.r.Suites) > 1 {
		name = b.suiteTitle(s) + " · " + name
	}
	return name
}

func (b *builder) failures() *Table {
	w := b.w
	t := &Table{ID: "failed", Columns: []Column{{Title: w.Columns.Suite}, {Title: w.Columns.Cell}, {Title: w.Columns.Process}, {Title: w.Columns.Outcome}, {Title: w.Columns.Detail}}}
	for _, f := range b.r.Failures {
		suite, cell := Visible(f.Suite), Visible(f.CellID)
		var behind *Behind
		for i := range b.r.Suites {
			if s := &b.r.Suites[i]; s.ID == f.Suite {
				suite, cell, behind = b.suiteTitle(s), b.cellName(s, f.CellID), b.behindID(i, f.CellID, 0)
			}
		}
		t.Rows = append(t.Rows, Row{[]Cell{
			{Text: suite}, {Text: cell}, {Text: Visible(f.ProcessID), Behind: behind}, {Text: Visible(w.Names.Outcome(string(f.Outcome))), Tone: Alert}, {Text: Visible(f.Detail)},
		}})
	}
	return t
}

// compared says what ran and in which order.
func (b *builder) compared() []Block {
	r, w := b.r, b.w
	cells := 0
	for i := range r.Suites {
		cells += len(r.Suites[i].Cells)
	}
	rounds := w.Number(r.Study.Rounds)
	perArm, measured := b.perArm()
	alternation, overview := "", w.Sentences.Overview
	if b.imported() {
		overview = w.Sentences.OverviewImported
	} else if !slices.ContainsFunc(r.Notes, func(n report.Note) bool { return n.Code == report.NoteNotPaired }) {
		alternation = w.Sentences.Alternation(Visible(w.Names.Order(r.Study.Order.Kind)), rounds)
	}
	text := b.sentences(
		overview(len(r.Suites), cells, r.Totals.Processes, perArm), alternation, w.Sentences.RangeMeaning(measured),
	)
	blocks := []Block{Paragraph{text}}
	if b.imported() {
		format := w.Names.Other
		if r.Study.ImportFormat != nil {
			format = Visible(*r.Study.ImportFormat)
		}
		text := w.Sentences.Imported(format)
		switch {
		case b.hasPercentiles() && r.Totals.Samples == 0:
			text = w.Sentences.ImportedStated(format)
		case r.Totals.Samples > 0:
			text = w.Sentences.ImportedSamples(format, numfmt.Count(r.Totals.Samples))
		}
		blocks = append(blocks, Callout{text})
	}
	var built []string
	for i, arm := range r.Study.Arms {
		if arm.Revision != nil {
			built = append(built, w.Sentences.ArmRevision(b.arm(i), Visible(*arm.Revision)))
		}
	}
	if len(built) > 0 {
		blocks = append(blocks, List{built})
	}
	// The plan's remarks are about runs by it, which imported ones are not.
	if b.imported() {
		return blocks
	}
	// A remark that several suites share is said once.
	var remarks []string
	seen := map[string]bool{}
	for i := range r.Suites {
		for _, note := range r.Suites[i].PlanNotes {
			if text := Visible(pick(note, w.Tag, "")); text != "" && !seen[text] {
				seen[text] = true
				remarks = append(remarks, text)
			}
		}
	}
	if len(remarks) > 0 {
		blocks = append(blocks, List{remarks})
	}
	return blocks
}

// reading explains the numbers, only those that are there.
func (b *builder) reading() []Block {
	m := b.w.Method
	items := []string{m.Median, m.Change, m.Overlap}
	throughput, rss := m.Intervals, m.RSS
	shown := map[string]bool{}
	for i := range b.r.Suites {
		for _, metric := range b.r.Suites[i].Metrics {
			shown[metric.ID] = true
		}
	}
	if b.imported() {
		throughput = m.ImportedIntervals
	}
	if b.all(wholeRuns) {
		rss = m.RSSOfRun
		if shown["run_time"] {
			throughput = "" // the same, said the other way round
		}
	}
	for _, explain := range []struct{ id, text string }{
		{"run_time", m.RunTime}, {"throughput", throughput}, {"latency_p99", m.Percentile}, {"response_p99", b.w.OpenLoop.Method}, {"cpu", m.CPU}, {"cpu_efficiency", m.Efficiency}, {"peak_rss", rss},
	} {
		if shown[explain.id] && explain.text != "" && !(explain.id == "latency_p99" && b.imported() && b.r.Totals.Samples == 0) {
			items = append(items, explain.text)
		}
	}
	items = append(items, m.Rounding, b.checked())
	return []Block{List{items}}
}

// imported reports whether the numbers come from files of another tool, so that
// nothing can be said of how they were taken.
func (b *builder) imported() bool { return b.r.Study.Origin == "imported" }

// hasPercentiles reports whether a percentile is shown of any suite.
func (b *builder) hasPercentiles() bool {
	return slices.ContainsFunc(b.r.Suites, func(s report.Suite) bool {
		return slices.ContainsFunc(s.Metrics, func(m report.Metric) bool { return strings.HasPrefix(m.ID, "latency_") })
	})
}

// operations are counts of operations, empty where an imported file states none.
func (b *builder) operations(n int64) string {
	if n == 0 && b.imported() {
		return ""
	}
	return numfmt.Count(n)
}

// checked says what was checked before numbers were used.
func (b *builder) checked() string {
	if b.imported() {
		return b.w.Sentences.ImportedChecked
	}
	return b.w.Sentences.AllChecked
}

// perArm is how many processes an arm of a cell has, in words; a range where
// cells or arms differ. measured leaves out arms without a process.
func (b *builder) perArm() (all, measured string) {
	var counts []int
	for i := range b.r.Suites {
		for ci := range b.r.Suites[i].Cells {
			var n [2]int
			for _, p := range b.r.Suites[i].Cells[ci].Processes {
				n[side(p.Side)]++
			}
			counts = append(counts, n[:]...)
		}
	}
	slices.Sort(counts)
	words := func(sorted []int) string {
		if len(sorted) == 0 {
			return b.w.Number(b.r.Study.Rounds)
		}
		low, high := b.w.Number(sorted[0]), b.w.Number(sorted[len(sorted)-1])
		if low == high {
			return low
		}
		return b.w.NumberRange(low, high)
	}
	there, _ := slices.BinarySearch(counts, 1)
	return words(counts), words(counts[there:])
}

// behindID leads to a cell by its id.
func (b *builder) behindID(suite int, cell string, metric int) *Behind {
	for i := range b.r.Suites[suite].Cells {
		if b.r.Suites[suite].Cells[i].ID == cell {
			return &Behind{Group: suite, Cell: i, Metric: metric, Side: -1}
		}
	}
	return nil
}

// inference is the table of intervals and tests, and which of them need more
// processes; nil when none was asked for.
func (b *builder) inference(suite int) []Block {
	s, w := &b.r.Suites[suite], b.w
	t := &Table{ID: "inference-" + slug(s.ID) + "-" + numfmt.Count(int64(suite)), Filter: true, Columns: []Column{
		{Title: w.Columns.Cell}, {Title: w.Columns.Metric}, {Title: w.Columns.Method}, {Title: w.Columns.Estimate, Numeric: true},
		{Title: w.Columns.Interval95, Numeric: true}, {Title: w.Columns.Level, Numeric: true}, {Title: w.Columns.P, Numeric: true}, {Title: w.Columns.PAdjusted, Numeric: true}, {Title: w.Columns.Detail},
	}}
	var tooFew []string
	for ci := range s.Cells {
		c := &s.Cells[ci]
		for m := range c.Comparisons {
			for _, inf := range c.Comparisons[m].Inference {
				if inf.NeedN > 0 {
					if text := Visible(w.Names.Inference(inf.Method)) + w.Colon + w.Sentences.NeedN(inf.NeedN); !slices.Contains(tooFew, text) {
						tooFew = append(tooFew, text)
					}
					continue
				}
				t.Rows = append(t.Rows, Row{b.inferenceCells(s, c, m, inf)})
			}
		}
	}
	var blocks []Block
	if len(t.Rows) > 0 {
		blocks = append(blocks, t)
	}
	if len(tooFew) > 0 {
		blocks = append(blocks, List{tooFew})
	}
	if len(blocks) == 0 {
		return nil
	}
	return []Block{Details{w.Headings.Inference, blocks}}
}

func (b *builder) inferenceCells(s *report.Suite, c *report.Cell, m int, inf report.Inference) []Cell {
	w := b.w
	pct := func(v *float64) Cell {
		if v == nil {
			return Cell{Text: absent, Tone: Quiet}
		}
		return Cell{Text: b.floatChange(s, *v), Sort: v}
	}
	plain := func(v *float64, scale float64, suffix string) Cell {
		if v == nil {
			return Cell{Text: absent, Tone: Quiet}
		}
		return Cell{Text: floatText(*v*scale) + suffix, Sort: v}
	}
	interval := Cell{Text: absent, Tone: Quiet}
	if inf.LowPct != nil && inf.HighPct != nil {
		interval = Cell{Text: b.span(b.floatChange(s, *inf.LowPct), b.floatChange(s, *inf.HighPct)), Sort: inf.LowPct}
	}
	detail := ""
	switch {
	case inf.Reason != "":
		detail = Visible(w.Names.Reason(inf.Reason))
	case inf.ModelBased:
		detail = w.Sentences.ModelBased
	}
	return []Cell{{Text: b.cellTitle(s, c)}, {Text: b.metric(s.Metrics[m])}, {Text: Visible(w.Names.Inference(inf.Method))},
		pct(inf.EstimatePct), interval, plain(inf.Level, 100, "%"), plain(inf.P, 1, ""), plain(inf.PAdjusted, 1, ""), {Text: detail}}
}

// hasFloor reports whether an A/A analysis was given for the suites.
func (b *builder) hasFloor(suites []int) bool {
	found := false
	b.eachCell(suites, func(_, _ int, _ *report.Suite, c *report.Cell) {
		for m := range c.Comparisons {
			found = found || c.Comparisons[m].Floor != nil
		}
	})
	return found
}

// floorColumn and floorCell are there only with an A/A analysis.
func (b *builder) floorColumn(suites []int) []Column {
	if !b.hasFloor(suites) {
		return nil
	}
	return []Column{{b.w.Columns.Floor, false}}
}

func (b *builder) floorCell(suites []int, s *report.Suite, c *report.Comparison) []Cell {
	if !b.hasFloor(suites) {
		return nil
	}
	if c == nil || c.Floor == nil {
		return []Cell{b.absentCell("")}
	}
	one, zero := 1.0, 0.0
	cell := Cell{Text: b.w.Names.Outside, Sort: &zero, Tone: Alert}
	if c.Floor.Inside {
		cell = Cell{Text: b.w.Names.Inside, Sort: &one}
	}
	cell.Hint = b.span(b.floatChange(s, c.Floor.LowPct), b.floatChange(s, c.Floor.HighPct))
	return []Cell{cell}
}

// floorLine says how far identical arms were apart on this host, and how many
// of the changes are no further.
func (b *builder) floorLine(s *report.Suite, m int) string {
	var floor *report.Floor
	inside, changes := 0, 0
	for i := range s.Cells {
		if f := s.Cells[i].Comparisons[m].Floor; f != nil {
			floor = f
			changes++
			if f.Inside {
				inside++
			}
		}
	}
	if floor == nil {
		return ""
	}
	return b.w.Sentences.Floor(b.span(b.floatChange(s, floor.LowPct), b.floatChange(s, floor.HighPct)), floor.Cells, inside, changes)
}
