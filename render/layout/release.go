package layout

import (
	"pairbench/analyze/report"
	"pairbench/render/numfmt"
)

// release shows all configurations of all suites in two tables: throughput with
// CPU and efficiency, then latency. Further metrics follow in a table of their
// own form.
func (b *builder) release() {
	w := b.w
	var blocks []Block
	ids := b.metricIDs()
	has := map[string]bool{}
	for _, id := range ids {
		has[id] = true
	}
	if has["throughput"] || has["cpu"] {
		blocks = append(blocks, Subheading{"throughput", w.Headings.ThroughputAndCPU}, b.throughputTable(has))
		if has["throughput"] {
			blocks = append(blocks, b.releaseFigure("throughput"))
		}
	}
	var latency, rest []string
	for _, id := range ids {
		switch id {
		case "throughput", "cpu", "cpu_efficiency":
		default:
			if m, ok := b.anyMetric(id); ok && m.Unit == "ns" {
				latency = append(latency, id)
			} else {
				rest = append(rest, id)
			}
		}
	}
	for _, part := range []struct {
		id, title string
		metrics   []string
	}{{"latency", w.Headings.Latency, latency}, {"further", w.Headings.Results, rest}} {
		if len(part.metrics) == 0 {
			continue
		}
		blocks = append(blocks, Subheading{part.id, part.title}, b.releaseTable("t-"+part.id, part.metrics))
		for _, id := range part.metrics {
			blocks = append(blocks, b.releaseFigure(id))
		}
	}
	for i := range b.r.Suites {
		s := &b.r.Suites[i]
		var lines []string
		for m := range s.Metrics {
			if text := b.floorLine(s, m); text != "" {
				lines = append(lines, b.suiteTitle(s)+w.Colon+b.metric(s.Metrics[m])+w.Colon+text)
			}
		}
		if len(lines) > 0 {
			blocks = append(blocks, List{lines})
		}
		blocks = append(blocks, b.suiteTail(i)...)
	}
	b.add("results", w.Headings.Results, blocks)
}

// metricIDs lists the metrics of all suites in order of appearance.
func (b *builder) metricIDs() []string {
	var ids []string
	seen := map[string]bool{}
	for i := range b.r.Suites {
		for _, m := range b.r.Suites[i].Metrics {
			if !seen[m.ID] {
				seen[m.ID] = true
				ids = append(ids, m.ID)
			}
		}
	}
	return ids
}

func (b *builder) anyMetric(id string) (report.Metric, bool) {
	for i := range b.r.Suites {
		if m := metricIndex(&b.r.Suites[i], id); m >= 0 {
			return b.r.Suites[i].Metrics[m], true
		}
	}
	return report.Metric{}, false
}

func metricIndex(s *report.Suite, id string) int {
	for i := range s.Metrics {
		if s.Metrics[i].ID == id {
			return i
		}
	}
	return -1
}

func (b *builder) allSuites() []int {
	all := make([]int, len(b.r.Suites))
	for i := range all {
		all[i] = i
	}
	return all
}

// title heads a column with a metric and its unit.
func (b *builder) columnTitle(id string) string {
	for i := range b.r.Suites {
		s := &b.r.Suites[i]
		if m := metricIndex(s, id); m >= 0 {
			return b.metricTitle(s, s.Metrics[m])
		}
	}
	return id
}

func (b *builder) throughputTable(has map[string]bool) *Table {
	w := b.w
	t := &Table{ID: "t-throughput", Title: b.arm(0) + numfmt.Arrow + b.arm(1), Caption: w.Sentences.CellsHave(w.Number(b.r.Study.Rounds)),
		Data:   b.dataFiles(b.allSuites(), []string{"throughput", "cpu", "cpu_efficiency"}),
		Filter: true, Columns: []Column{{Title: w.Columns.Configuration}}}
	if has["throughput"] {
		t.Columns = append(t.Columns, Column{b.columnTitle("throughput"), true}, Column{w.Columns.Change, true}, Column{w.Columns.Overlap, false})
		t.Columns = append(t.Columns, b.floorColumn(b.allSuites())...)
	}
	if has["cpu"] {
		t.Columns = append(t.Columns, Column{b.columnTitle("cpu"), true})
	}
	if has["cpu_efficiency"] {
		t.Columns = append(t.Columns, Column{w.Columns.EfficiencyChange, true})
	}
	b.eachCell(b.allSuites(), func(i, ci int, s *report.Suite, c *report.Cell) {
		row := Row{[]Cell{{Text: b.configuration(s, c.ID)}}}
		if has["throughput"] {
			m := metricIndex(s, "throughput")
			row.Cells = append(row.Cells, b.joinedOr(i, ci, m), b.changeOr(i, ci, m), b.overlapOr(i, ci, m))
			row.Cells = append(row.Cells, b.floorOr(i, ci, m)...)
		}
		if has["cpu"] {
			row.Cells = append(row.Cells, b.joinedOr(i, ci, metricIndex(s, "cpu")))
		}
		if has["cpu_efficiency"] {
			row.Cells = append(row.Cells, b.changeOr(i, ci, metricIndex(s, "cpu_efficiency")))
		}
		t.Rows = append(t.Rows, row)
	})
	return t
}

func (b *builder) releaseTable(id string, metrics []string) *Table {
	w := b.w
	t := &Table{ID: id, Title: b.arm(0) + numfmt.Arrow + b.arm(1), Filter: true, Caption: w.Sentences.CellsHave(w.Number(b.r.Study.Rounds)),
		Data: b.dataFiles(b.allSuites(), metrics), Columns: []Column{{Title: w.Columns.Configuration}}}
	for _, metric := range metrics {
		t.Columns = append(t.Columns, Column{b.columnTitle(metric), true}, Column{w.Columns.Change, true})
		t.Columns = append(t.Columns, b.floorColumn(b.allSuites())...)
	}
	b.eachCell(b.allSuites(), func(i, ci int, s *report.Suite, c *report.Cell) {
		row := Row{[]Cell{{Text: b.configuration(s, c.ID)}}}
		for _, metric := range metrics {
			m := metricIndex(s, metric)
			row.Cells = append(row.Cells, b.joinedOr(i, ci, m), b.changeOr(i, ci, m))
			row.Cells = append(row.Cells, b.floorOr(i, ci, m)...)
		}
		t.Rows = append(t.Rows, row)
	})
	return t
}

// The Or forms stand in for a metric that a suite does not have (m < 0).

func (b *builder) joinedOr(suite, cell, m int) Cell {
	if m < 0 {
		return b.absentCell("")
	}
	s := &b.r.Suites[suite]
	return b.joined(b.style(s, s.Metrics[m]), &s.Cells[cell].Comparisons[m], &Behind{suite, cell, m, -1})
}

func (b *builder) changeOr(suite, cell, m int) Cell {
	if m < 0 {
		return b.absentCell("")
	}
	s := &b.r.Suites[suite]
	return b.changeCell(s, &s.Cells[cell].Comparisons[m], &Behind{suite, cell, m, -1})
}

func (b *builder) overlapOr(suite, cell, m int) Cell {
	if m < 0 {
		return b.absentCell("")
	}
	return b.overlapCell(&b.r.Suites[suite].Cells[cell].Comparisons[m])
}

func (b *builder) floorOr(suite, cell, m int) []Cell {
	s := &b.r.Suites[suite]
	if m < 0 {
		return b.floorCell(b.allSuites(), s, nil)
	}
	return b.floorCell(b.allSuites(), s, &s.Cells[cell].Comparisons[m])
}

// releaseFigure draws a metric with one panel per suite and group.
func (b *builder) releaseFigure(id string) Block {
	var suites []int
	for i := range b.r.Suites {
		if metricIndex(&b.r.Suites[i], id) >= 0 {
			suites = append(suites, i)
		}
	}
	return b.barFigureOf(suites, func(s *report.Suite) int { return metricIndex(s, id) }, nil)
}
