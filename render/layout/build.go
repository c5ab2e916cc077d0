package layout

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"pairbench/analyze/report"
	"pairbench/records"
	"pairbench/render/i18n"
	"pairbench/render/numfmt"
)

// The layouts a study may ask for. Any other is laid out as Paired.
const (
	Paired  = "paired"
	Compact = "compact"
	Release = "release"
)

// Options say what stands beside the document.
type Options struct {
	// CSV says that tables have twins under csv/.
	CSV bool
}

// Build lays a valid report (report.Validate) out in the language of w.
func Build(r *report.Report, w *i18n.Words, opt Options) *Document {
	w = wordsFor(r, w)
	b := &builder{r: r, w: w, opt: opt, names: map[string]bool{}}
	b.doc = &Document{
		Lang:  w.Tag,
		Title: b.text(r.Study.Title, r.Study.ID),
		Lead:  b.question(),
		Facts: b.headFacts(),
	}
	b.groups()
	b.add("findings", w.Headings.Findings, b.findings())
	b.add("compared", w.Headings.Compared, b.compared())
	switch r.Study.Layout {
	case Compact:
		b.compact()
	case Release:
		b.release()
	default:
		b.paired()
	}
	b.add("reading", w.Headings.Reading, b.reading())
	b.add("scope", w.Headings.Scope, b.scope())
	b.add("counts", w.Headings.Counts, b.counts())
	b.add("evidence", w.Headings.Evidence, b.evidence())
	b.add("limits", w.Headings.Limits, b.limits())
	return b.doc
}

type builder struct {
	r   *report.Report
	w   *i18n.Words
	opt Options
	doc *Document
	// names are the figures' file names so far.
	names map[string]bool
}

func (b *builder) add(id, title string, blocks []Block) {
	if len(blocks) > 0 {
		b.doc.Sections = append(b.doc.Sections, Section{ID: id, Title: title, Blocks: blocks})
	}
}

// sentences joins clauses the way the language does.
func (b *builder) sentences(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, b.w.Space)
}

func (b *builder) headFacts() []Fact {
	r, w := b.r, b.w
	cells := 0
	for i := range r.Suites {
		cells += len(r.Suites[i].Cells)
	}
	facts := []Fact{
		{w.Columns.Cells, numfmt.Count(int64(cells))},
		{w.Columns.Processes, numfmt.Count(int64(r.Totals.Processes))},
	}
	if operations := b.operations(r.Totals.MeasuredOperations); operations != "" {
		facts = append(facts, Fact{w.Columns.Operations, operations})
	}
	if r.Totals.Samples > 0 {
		facts = append(facts, Fact{w.Columns.Samples, numfmt.Count(r.Totals.Samples)})
	}
	if !r.Scope.StartedAt.IsZero() {
		facts = append(facts, Fact{w.Scope.Time, utc(r.Scope.StartedAt, r.Scope.EndedAt)})
	}
	for _, bundle := range r.Bundles {
		facts = append(facts, Fact{w.Columns.Bundle, shortHash(bundle.Identity)})
		if len(r.Bundles) > 1 {
			facts[len(facts)-1].Value += " +" + strconv.Itoa(len(r.Bundles)-1)
			break
		}
	}
	return facts
}

const (
	day    = "2006-01-02"
	second = "15:04:05"
)

func instant(t time.Time) string { return t.UTC().Format(day + " " + second) }

// utc writes an interval, the second day only where it differs.
func utc(from, to time.Time) string {
	from, to = from.UTC(), to.UTC()
	if from.Format(day) == to.Format(day) {
		return from.Format(day+" "+second) + numfmt.RangeDash + to.Format(second) + " UTC"
	}
	return instant(from) + " " + numfmt.RangeDash + " " + instant(to) + " UTC"
}

func shortHash(h string) string {
	h = Visible(h)
	if len(h) > 12 {
		return h[:12]
	}
	return h
}

// ArmText writes an arm's cell: median and range. ok is false when the arm has
// no value.
func ArmText(style numfmt.Style, a report.ArmSummary) (text string, ok bool) {
	if a.N == 0 {
		return "", false
	}
	return style.Cell(a.Median.Rat(), a.Min.Rat(), a.Max.Rat()), true
}

const absent = "—"

func float(n *report.Number) *float64 {
	if n == nil {
		return nil
	}
	f := n.Float()
	return &f
}

func (b *builder) armCell(style numfmt.Style, a report.ArmSummary, behind *Behind) Cell {
	text, ok := ArmText(style, a)
	if !ok {
		return Cell{Text: absent, Hint: b.w.Names.Reason("arm_missing"), Tone: Quiet, Behind: behind}
	}
	if a.N != b.r.Study.Rounds {
		text += " (" + b.w.Sentences.NUnusual(a.N) + ")"
	}
	return Cell{Text: text, Sort: float(a.Median), Behind: behind}
}

func (b *builder) changeCell(s *report.Suite, c *report.Comparison, behind *Behind) Cell {
	if c.ChangePct == nil {
		return b.absentCell(c.ChangeReason)
	}
	return Cell{Text: b.change(s, c.ChangePct), Sort: float(c.ChangePct), Behind: behind}
}

func (b *builder) absentCell(reason string) Cell {
	hint := b.w.Names.NotComputable
	if reason != "" {
		hint = Visible(b.w.Names.Reason(reason))
	}
	return Cell{Text: absent, Hint: hint, Tone: Quiet}
}

func (b *builder) overlapCell(c *report.Comparison) Cell {
	if c.Overlap == nil {
		return b.absentCell(c.OverlapReason)
	}
	one, zero := 1.0, 0.0
	if *c.Overlap {
		return Cell{Text: b.w.Names.Yes, Sort: &one}
	}
	return Cell{Text: b.w.Names.No, Sort: &zero, Tone: Alert}
}

func (b *builder) change(s *report.Suite, n *report.Number) string {
	return numfmt.Profile(s.Profile).Change().Format(n.Rat())
}

// changeRange writes the lowest and highest change of a summary in prose.
func (b *builder) changeRange(s *report.Suite, sum *report.Summary) string {
	return b.span(b.change(s, sum.LowestPct), b.change(s, sum.HighestPct))
}

// span joins two written changes; two that read the same are written once.
func (b *builder) span(low, high string) string {
	if low == high {
		return low
	}
	return b.w.ChangeRange(low, high)
}

// suiteSentence is the summary of a metric: range of changes and overlap.
func (b *builder) suiteSentence(s *report.Suite, m int) string {
	sum, w := &s.Summaries[m], b.w
	if sum.LowestPct == nil || sum.HighestPct == nil {
		return w.Sentences.NoChange(b.metric(s.Metrics[m]))
	}
	sentence := w.Sentences.SuiteChange
	if b.r.Study.AA {
		sentence = w.Sentences.SuiteChangeAA
	}
	text := sentence(b.metric(s.Metrics[m]), b.changeRange(s, sum), numfmt.Share(sum.Overlapping, sum.Comparable))
	if sum.NotComparable > 0 && sum.Comparable > 0 {
		text = b.sentences(text, w.Sentences.NotComputable(sum.NotComparable))
	}
	return text
}

// chance is the line that sets disjoint ranges against what chance gives.
func (b *builder) chance(sum *report.Summary) string {
	if sum.DisjointByChance == nil || sum.Comparable == 0 {
		return ""
	}
	return b.w.Sentences.Chance(sum.Comparable-sum.Overlapping, sum.Comparable, expected(sum.DisjointByChance))
}

// expected writes a number of cells that chance gives: to a tenth, or to a
// thousandth where a tenth would read as none.
func expected(n *report.Number) string {
	if n.Rat().Cmp(big.NewRat(1, 10)) < 0 {
		return numfmt.Decimals(3).Format(n.Rat())
	}
	return numfmt.Decimals(1).Format(n.Rat())
}

func (b *builder) notes(notes []report.Note) []string {
	var items []string
	for _, n := range notes {
		items = append(items, Visible(b.w.Note(n)))
	}
	return items
}

// cellNotes are the notes of a cell, where its processes need no longer name
// than arm and round. Disturbances that are folded are left out.
func (b *builder) cellNotes(s *report.Suite, c *report.Cell, folded []string) []string {
	var notes []report.Note
	for _, n := range c.Notes {
		if kind := disturbance(n); kind != "" && slices.Contains(folded, kind) {
			continue
		}
		values := make([]string, len(n.Values))
		for k, v := range n.Values {
			values[k] = strings.TrimPrefix(v, s.ID+"/"+c.ID+"/")
		}
		n.Values = values
		notes = append(notes, n)
	}
	return b.notes(notes)
}

// disturbance is what a note says has disturbed processes, "" for another note.
func disturbance(n report.Note) string {
	if n.Code != report.NoteDisturbed || len(n.Values) == 0 {
		return ""
	}
	return n.Values[0]
}

// foldedDisturbances are those that so many cells tell of that a line for each
// would hide the other doubts; the processes themselves still name them.
func (b *builder) foldedDisturbances(s *report.Suite) []string {
	const cells = 3
	var kinds []string
	told := map[string]int{}
	for i := range s.Cells {
		for _, n := range s.Cells[i].Notes {
			if kind := disturbance(n); kind != "" {
				if told[kind]++; told[kind] == cells+1 {
					kinds = append(kinds, kind)
				}
			}
		}
	}
	return kinds
}

// disturbed says of how many processes and cells a disturbance is told.
func (b *builder) disturbed(s *report.Suite, kind string) string {
	processes, cells, all := 0, 0, 0
	for i := range s.Cells {
		c := &s.Cells[i]
		all += len(c.Processes)
		before := processes
		for k := range c.Processes {
			if slices.ContainsFunc(c.Processes[k].Notes, func(n report.Note) bool { return disturbance(n) == kind }) {
				processes++
			}
		}
		if processes > before {
			cells++
		}
	}
	return Visible(b.w.Notes.DisturbedMany(b.w.Names.Disturbance(kind), numfmt.Count(int64(processes)), numfmt.Count(int64(all)),
		numfmt.Count(int64(cells)), numfmt.Count(int64(len(s.Cells)))))
}

// dataFiles are the CSV twins of tables about the metrics of suites.
func (b *builder) dataFiles(suites []int, metrics []string) []string {
	var files []string
	if !b.opt.CSV {
		return nil
	}
	for _, suite := range suites {
		for _, id := range metrics {
			if metricIndex(&b.r.Suites[suite], id) >= 0 {
				files = append(files, "csv/"+FileName(b.r, suite, id)+".csv")
			}
		}
	}
	return files
}

func side(s records.Side) int {
	if s == records.SideB {
		return 1
	}
	return 0
}

// question is what the study asks.
func (b *builder) question() string {
	if b.r.Study.AA {
		return b.w.Sentences.QuestionAA
	}
	return b.w.Sentences.Question(b.arm(0), b.arm(1))
}
