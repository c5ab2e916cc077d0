package layout

import (
	"math/big"
	"strconv"

	"pairbench/analyze/report"
	"pairbench/render/numfmt"
)

// paired gives every suite a section with one chart and one table per metric.
func (b *builder) paired() {
	for i := range b.r.Suites {
		b.add("suite-"+strconv.Itoa(i+1), b.suiteTitle(&b.r.Suites[i]), b.pairedSuite(i))
	}
}

func (b *builder) pairedSuite(suite int) []Block {
	s := &b.r.Suites[suite]
	var blocks []Block
	for m := range s.Metrics {
		id := fragment(suite, s.Metrics[m].ID)
		blocks = append(blocks, Subheading{id, b.metric(s.Metrics[m])},
			Paragraph{b.sentences(b.suiteSentence(s, m), b.chance(&s.Summaries[m]), b.floorLine(s, m))},
			b.bars(suite, m), b.metricTable(suite, m))
	}
	return append(blocks, b.suiteTail(suite)...)
}

// suiteTail is what every layout says of a suite after its results.
func (b *builder) suiteTail(suite int) []Block {
	s := &b.r.Suites[suite]
	var blocks []Block
	blocks = append(blocks, b.inference(suite)...)
	if fig := b.order(suite); fig != nil {
		blocks = append(blocks, Subheading{fragment(suite, "order"), b.w.Headings.Order}, *fig)
	}
	// What the order within pairs does is no doubt about a change: both sides
	// take both places.
	var position, doubts []report.Note
	for _, n := range s.Notes {
		if n.Code == report.NoteSamePosition {
			position = append(position, n)
		} else {
			doubts = append(doubts, n)
		}
	}
	if items := b.notes(position); len(items) > 0 {
		blocks = append(blocks, Subheading{fragment(suite, "position"), b.w.Headings.Position}, List{items})
	}
	notes := b.notes(doubts)
	folded := b.foldedDisturbances(s)
	for _, kind := range folded {
		notes = append(notes, b.disturbed(s, kind))
	}
	for i := range s.Cells {
		for _, text := range b.cellNotes(s, &s.Cells[i], folded) {
			notes = append(notes, b.cellTitle(s, &s.Cells[i])+b.w.Colon+text)
		}
	}
	if len(notes) > 0 {
		blocks = append(blocks, Subheading{fragment(suite, "doubts"), b.w.Headings.Notes}, List{notes})
	}
	return blocks
}

func fragment(suite int, about string) string {
	return "s" + strconv.Itoa(suite+1) + "-" + slug(about)
}

// metricTable is the complete table of one metric, a row per cell.
func (b *builder) metricTable(suite, m int) *Table {
	s, w := &b.r.Suites[suite], b.w
	metric := s.Metrics[m]
	style := b.style(s, metric)
	factors := b.factorColumns(s, nil)
	t := &Table{
		ID:      "t-" + fragment(suite, metric.ID),
		Title:   w.Sentences.Caption(b.metric(metric), w.Names.Unit(style.Unit), b.better(metric)),
		Caption: w.Sentences.CellsHave(w.Number(b.r.Study.Rounds)),
		Data:    b.dataFiles([]int{suite}, []string{metric.ID}), Filter: len(s.Cells) > 4,
	}
	t.Columns = b.factorTitles(s, factors)
	t.Columns = append(t.Columns, Column{b.arm(0), true}, Column{b.arm(1), true}, Column{w.Columns.Change, true}, Column{w.Columns.Overlap, false})
	t.Columns = append(t.Columns, b.floorColumn([]int{suite})...)
	for ci := range s.Cells {
		c := &s.Cells[ci]
		cmp := &c.Comparisons[m]
		behind := func(side int) *Behind { return &Behind{Group: suite, Cell: ci, Metric: m, Side: side} }
		row := Row{b.factorCells(s, factors, c)}
		row.Cells = append(row.Cells, b.armCell(style, cmp.A, behind(0)), b.armCell(style, cmp.B, behind(1)),
			b.changeCell(s, cmp, behind(-1)), b.overlapCell(cmp))
		row.Cells = append(row.Cells, b.floorCell([]int{suite}, s, cmp)...)
		t.Rows = append(t.Rows, row)
	}
	return t
}

// factorTitles heads the factor columns; a suite whose cells vary in nothing is
// told apart by their ids.
func (b *builder) factorTitles(s *report.Suite, factors []factorColumn) []Column {
	var columns []Column
	for _, f := range factors {
		columns = append(columns, Column{Title: f.title})
	}
	if len(columns) == 0 {
		columns = []Column{{Title: b.w.Columns.Cell}}
	}
	return columns
}

func (b *builder) factorCells(s *report.Suite, factors []factorColumn, c *report.Cell) []Cell {
	var cells []Cell
	for _, f := range factors {
		cells = append(cells, Cell{Text: b.factorText(s, f, c), Sort: factorSort(f, c)})
	}
	if len(cells) == 0 {
		cells = []Cell{{Text: Visible(c.ID)}}
	}
	return cells
}

func (b *builder) floatChange(s *report.Suite, v float64) string {
	r := new(big.Rat).SetFloat64(v)
	if r == nil {
		return absent
	}
	return numfmt.Profile(s.Profile).Change().Format(r)
}

// floatText writes a probability or a level to four decimals.
func floatText(v float64) string {
	r := new(big.Rat).SetFloat64(v)
	if r == nil {
		return absent
	}
	return numfmt.Decimals(4).Format(r)
}
