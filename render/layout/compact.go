package layout

import (
	"strconv"

	"pairbench/analyze/report"
	"pairbench/render/numfmt"
)

// compact shows all suites together: one chart per metric with a panel for each
// group of cells, the groups' median changes, and one table of all cells with
// the arms joined by an arrow.
func (b *builder) compact() {
	w := b.w
	var blocks []Block
	for _, metrics := range b.sharedMetrics() {
		suites := metrics.suites
		first := &b.r.Suites[suites[0]]
		for m := range first.Metrics {
			fig := b.barFigure(suites, m, func(s *report.Suite, p *report.PanelResult) string {
				if n := p.MedianChangePct[m]; n != nil {
					return " · " + w.Columns.MedianChange + " " + b.change(s, n)
				}
				return ""
			})
			id := fragment(suites[0], first.Metrics[m].ID)
			blocks = append(blocks, Subheading{id, b.metric(first.Metrics[m])})
			for _, i := range suites {
				s := &b.r.Suites[i]
				text := b.sentences(b.suiteSentence(s, m), b.floorLine(s, m))
				if len(b.r.Suites) > 1 {
					text = b.suiteTitle(s) + w.Colon + text
				}
				blocks = append(blocks, Paragraph{text})
			}
			blocks = append(blocks, fig)
		}
		id := strconv.Itoa(suites[0] + 1)
		blocks = append(blocks,
			Subheading{"medians-" + id, w.Columns.MedianChange}, b.panelTable(suites),
			Subheading{"cells-" + id, w.Headings.Results}, b.compactTable(suites),
			Subheading{"changes-" + id, w.Headings.Changes}, b.changesTable(suites))
	}
	for i := range b.r.Suites {
		blocks = append(blocks, b.suiteTail(i)...)
	}
	b.add("results", w.Headings.Results, blocks)
}

// suitesTogether are suites that one table can hold.
type suitesTogether struct{ suites []int }

// sharedMetrics groups neighbouring suites with equal metrics and equal varying
// factors: what one table can show.
func (b *builder) sharedMetrics() []suitesTogether {
	var groups []suitesTogether
	for i := range b.r.Suites {
		if n := len(groups); n > 0 && b.alike(groups[n-1].suites[0], i) {
			groups[n-1].suites = append(groups[n-1].suites, i)
			continue
		}
		groups = append(groups, suitesTogether{[]int{i}})
	}
	return groups
}

func (b *builder) alike(i, j int) bool {
	x, y := &b.r.Suites[i], &b.r.Suites[j]
	if len(x.Metrics) != len(y.Metrics) || x.Profile != y.Profile {
		return false
	}
	for m := range x.Metrics {
		if x.Metrics[m].ID != y.Metrics[m].ID {
			return false
		}
	}
	fx, fy := b.factorColumns(x, nil), b.factorColumns(y, nil)
	if len(fx) != len(fy) {
		return false
	}
	for k := range fx {
		if fx[k].title != fy[k].title {
			return false
		}
	}
	return true
}

func (b *builder) suiteColumn(suites []int) []Column {
	if len(suites) > 1 || len(b.r.Suites) > 1 {
		return []Column{{Title: b.w.Columns.Suite}}
	}
	return nil
}

func (b *builder) suiteCell(suites []int, s *report.Suite) []Cell {
	if b.suiteColumn(suites) == nil {
		return nil
	}
	return []Cell{{Text: b.suiteTitle(s)}}
}

// panelTable holds the median of the cells' changes for each group and metric.
func (b *builder) panelTable(suites []int) *Table {
	first := &b.r.Suites[suites[0]]
	t := &Table{ID: "t-medians-" + strconv.Itoa(suites[0]+1), Columns: append(b.suiteColumn(suites), Column{Title: b.w.Columns.Panel}, Column{b.w.Columns.Cells, true})}
	for _, m := range first.Metrics {
		t.Columns = append(t.Columns, Column{b.metric(m), true})
	}
	for _, i := range suites {
		s := &b.r.Suites[i]
		for pi := range s.Panels {
			p := &s.Panels[pi]
			title := b.panelTitle(s, p)
			if title == "" {
				title = b.w.Sentences.GroupRest
			}
			cells := float64(len(p.Cells))
			row := Row{append(b.suiteCell(suites, s), Cell{Text: title}, Cell{Text: numfmt.Count(int64(len(p.Cells))), Sort: &cells})}
			for m := range s.Metrics {
				if n := p.MedianChangePct[m]; n == nil {
					row.Cells = append(row.Cells, b.absentCell(""))
				} else {
					row.Cells = append(row.Cells, Cell{Text: b.change(s, n), Sort: float(n)})
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// joined writes both arms of a comparison in one cell: A → B.
func (b *builder) joined(style numfmt.Style, cmp *report.Comparison, behind *Behind) Cell {
	a, bb := b.armCell(style, cmp.A, nil), b.armCell(style, cmp.B, nil)
	return Cell{Text: a.Text + numfmt.Arrow + bb.Text, Sort: a.Sort, Behind: behind}
}

func (b *builder) compactTable(suites []int) *Table {
	first := &b.r.Suites[suites[0]]
	factors := b.factorColumns(first, nil)
	t := &Table{ID: "t-cells-" + strconv.Itoa(suites[0]+1), Filter: true,
		Title:   b.arm(0) + numfmt.Arrow + b.arm(1),
		Caption: b.w.Sentences.CellsHave(b.w.Number(b.r.Study.Rounds)), Data: b.dataFiles(suites, b.metricIDs())}
	t.Columns = append(b.suiteColumn(suites), b.factorTitles(first, factors)...)
	for _, m := range first.Metrics {
		t.Columns = append(t.Columns, Column{b.metricTitle(first, m), true})
	}
	b.eachCell(suites, func(i, ci int, s *report.Suite, c *report.Cell) {
		row := Row{append(b.suiteCell(suites, s), b.factorCells(s, b.factorColumns(s, nil), c)...)}
		for m := range s.Metrics {
			row.Cells = append(row.Cells, b.joined(b.style(s, s.Metrics[m]), &c.Comparisons[m], &Behind{i, ci, m, -1}))
		}
		t.Rows = append(t.Rows, row)
	})
	return t
}

// changesTable gives the change of every cell and metric, with a mark where the
// ranges are disjoint.
func (b *builder) changesTable(suites []int) *Table {
	first := &b.r.Suites[suites[0]]
	t := &Table{ID: "t-changes-" + strconv.Itoa(suites[0]+1), Filter: true}
	t.Columns = append(b.suiteColumn(suites), b.factorTitles(first, b.factorColumns(first, nil))...)
	for _, m := range first.Metrics {
		t.Columns = append(t.Columns, Column{b.metric(m), true}, Column{b.w.Columns.Overlap, false})
		t.Columns = append(t.Columns, b.floorColumn(suites)...)
	}
	b.eachCell(suites, func(i, ci int, s *report.Suite, c *report.Cell) {
		row := Row{append(b.suiteCell(suites, s), b.factorCells(s, b.factorColumns(s, nil), c)...)}
		for m := range s.Metrics {
			row.Cells = append(row.Cells, b.changeCell(s, &c.Comparisons[m], &Behind{i, ci, m, -1}), b.overlapCell(&c.Comparisons[m]))
			row.Cells = append(row.Cells, b.floorCell(suites, s, &c.Comparisons[m])...)
		}
		t.Rows = append(t.Rows, row)
	})
	return t
}

func (b *builder) eachCell(suites []int, do func(suite, cell int, s *report.Suite, c *report.Cell)) {
	for _, i := range suites {
		s := &b.r.Suites[i]
		for ci := range s.Cells {
			do(i, ci, s, &s.Cells[ci])
		}
	}
}
