package layout

import (
	"sort"
	"strconv"
	"strings"

	"pairbench/analyze/report"
	"pairbench/records"
	"pairbench/render/chart"
	"pairbench/render/numfmt"
)

// bars is the chart of one metric of one suite: a panel per group of cells.
func (b *builder) bars(suite, m int) Figure {
	return b.barFigure([]int{suite}, m, nil)
}

// barFigure draws metric m of suites with equal metrics. tail, when not nil,
// adds to a panel's title.
func (b *builder) barFigure(suites []int, m int, tail func(*report.Suite, *report.PanelResult) string) Figure {
	return b.barFigureOf(suites, func(*report.Suite) int { return m }, tail)
}

func (b *builder) barFigureOf(suites []int, index func(*report.Suite) int, tail func(*report.Suite, *report.PanelResult) string) Figure {
	w := b.w
	first := &b.r.Suites[suites[0]]
	metric := first.Metrics[index(first)]
	style := b.style(first, metric)
	unit := w.Names.Unit(style.Unit)
	name := FileName(b.r, suites[0], metric.ID)
	title := b.suiteTitle(first) + " · " + b.metric(metric)
	if len(suites) > 1 {
		title = b.metric(metric)
		name = slug(b.r.Study.ID) + "_" + slug(metric.ID)
	}
	f := &chart.Figure{Name: b.unique(name), Kind: chart.Bars, Title: title, Legend: [2]string{b.arm(0), b.arm(1)}, Y: b.metricTitle(first, metric)}
	axis := ""
	for _, i := range suites {
		s := &b.r.Suites[i]
		m := index(s)
		var names []string
		for _, col := range b.factorColumns(s, s.Panel) {
			names = append(names, col.title)
		}
		if axis == "" {
			axis = strings.Join(names, "/")
		}
		for pi := range s.Panels {
			p := &s.Panels[pi]
			panel := chart.Panel{Title: b.panelTitle(s, p)}
			if len(suites) > 1 {
				panel.Title = strings.Trim(b.suiteTitle(s)+" · "+panel.Title, " ·")
			}
			if tail != nil {
				panel.Title += tail(s, p)
			}
			for _, ci := range p.Cells {
				panel.Groups = append(panel.Groups, b.group(s, &s.Cells[ci], m))
			}
			f.Panels = append(f.Panels, panel)
		}
	}
	if axis == "" {
		axis = w.Columns.Cell
	}
	f.X = axis
	f.Description = w.Sentences.ChartBars(b.metric(metric), unit, axis)
	return Figure{Chart: f, Caption: f.Description}
}

// unique keeps the file names of two figures apart.
func (b *builder) unique(name string) string {
	for n, candidate := 2, name; ; n++ {
		if !b.names[candidate] {
			b.names[candidate] = true
			return candidate
		}
		candidate = name + "-" + strconv.Itoa(n)
	}
}

// group is one cell of a chart; its numbers are in the shown unit.
func (b *builder) group(s *report.Suite, c *report.Cell, m int) chart.Group {
	metric, cmp := s.Metrics[m], &c.Comparisons[m]
	style := b.style(s, metric)
	g := chart.Group{Label: b.cellLabel(s, c, append([]string{}, s.Panel...), "/")}
	if cmp.ChangePct != nil {
		g.Note = b.change(s, cmp.ChangePct)
	}
	for side, a := range [2]report.ArmSummary{cmp.A, cmp.B} {
		if a.N == 0 {
			continue
		}
		text := style.Format(a.Median.Rat()) + " [" + style.Format(a.Min.Rat()) + numfmt.RangeDash + style.Format(a.Max.Rat()) + "]"
		g.Bars[side] = &chart.Bar{
			Median: style.Value(a.Median.Rat()), Min: style.Value(a.Min.Rat()), Max: style.Value(a.Max.Rat()),
			Tip: b.arm(side) + " · " + b.cellTitle(s, c) + b.w.Colon + text + " " + b.w.Names.Unit(style.Unit),
		}
	}
	return g
}

// order draws the suite's first metric of every process over its slot, as a
// share of the median of its own cell and arm; nil when there is nothing to see.
func (b *builder) order(suite int) *Figure {
	s := &b.r.Suites[suite]
	if len(s.Metrics) == 0 {
		return nil
	}
	type dot struct{ slot, share float64 }
	var dots [2][]dot
	for ci := range s.Cells {
		c := &s.Cells[ci]
		medians := [2]*report.Number{c.Comparisons[0].A.Median, c.Comparisons[0].B.Median}
		for i := range c.Processes {
			p := &c.Processes[i]
			median := medians[side(p.Side)]
			if p.Outcome != records.OutcomeOK || p.Values[0] == nil || median == nil || median.Sign() == 0 {
				continue
			}
			dots[side(p.Side)] = append(dots[side(p.Side)], dot{float64(p.Slot), p.Values[0].Float() / median.Float() * 100})
		}
	}
	if len(dots[0])+len(dots[1]) < 4 {
		return nil
	}
	metric := b.metric(s.Metrics[0])
	describe := b.w.Sentences.ChartOrder
	if b.imported() {
		describe = b.w.Sentences.ChartOrderImported
	}
	f := &chart.Figure{Name: b.unique(FileName(b.r, suite, "order")), Kind: chart.Dots, Title: b.suiteTitle(s) + " · " + b.w.Headings.Order,
		Legend: [2]string{b.arm(0), b.arm(1)}, X: b.w.Columns.Slot, Y: "%", Description: describe(metric)}
	panel := chart.Panel{Title: metric + " (%)"}
	for sideOf, list := range dots {
		sort.Slice(list, func(i, j int) bool { return list[i].slot < list[j].slot })
		c := chart.Curve{Side: sideOf, Tip: b.arm(sideOf)}
		for _, d := range list {
			c.X, c.Y = append(c.X, d.slot), append(c.Y, d.share)
		}
		panel.Curves = append(panel.Curves, c)
	}
	f.Panels = []chart.Panel{panel}
	return &Figure{Chart: f, Caption: f.Description}
}

// distribution draws every process's own latency distribution, a panel per
// cell; nil without raw samples. panels maps a cell to its panel, -1 for none.
func (b *builder) distribution(suite int) (f *chart.Figure, panels []int) {
	s, w := &b.r.Suites[suite], b.w
	style := numfmt.Profile(s.Profile).Metric("latency", "ns")
	f = &chart.Figure{Name: b.unique(FileName(b.r, suite, "distribution")), Kind: chart.Lines, Title: b.suiteTitle(s) + " · " + w.Headings.Distribution,
		Legend: [2]string{b.arm(0), b.arm(1)}, X: w.Names.Unit(style.Unit), Y: "%", Description: w.Sentences.ChartECDF}
	for ci := range s.Cells {
		c := &s.Cells[ci]
		panel := chart.Panel{Title: b.cellTitle(s, c)}
		for i := range c.Processes {
			p := &c.Processes[i]
			if len(p.Latency) == 0 || p.Outcome != records.OutcomeOK {
				continue
			}
			curve := chart.Curve{Side: side(p.Side), Tip: b.arm(side(p.Side)) + " · " + w.Columns.Round + " " + numfmt.Count(int64(p.Round))}
			for k, ns := range p.Latency {
				curve.X = append(curve.X, style.Value(numberOf(ns)))
				curve.Y = append(curve.Y, float64(report.DistributionPermyriads[k])/100)
			}
			panel.Curves = append(panel.Curves, curve)
		}
		if len(panel.Curves) == 0 {
			panels = append(panels, -1)
			continue
		}
		panels = append(panels, len(f.Panels))
		f.Panels = append(f.Panels, panel)
	}
	if len(f.Panels) == 0 {
		return nil, panels
	}
	return f, panels
}
