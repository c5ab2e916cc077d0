package layout

import (
	"slices"
	"strings"

	"pairbench/analyze/report"
	"pairbench/render/chart"
	"pairbench/render/i18n"
	"pairbench/render/numfmt"
)

// History draws rows of one metric, in the order given: a panel for each cell, a
// position in it for each bundle, named by the revisions of its arms and its
// day. nil without rows.
func History(rows []report.HistoryRow, w *i18n.Words) *chart.Figure {
	if len(rows) == 0 {
		return nil
	}
	metric := rows[0].Metric
	style := numfmt.Database.Metric(metric.ID, metric.Unit) // one for all: bundles may have other profiles
	name, unit := Visible(w.Names.Metric(metric.ID)), w.Names.Unit(style.Unit)
	f := &chart.Figure{
		Name: "history_" + slug(metric.ID), Kind: chart.Trend, Title: name + " · " + w.Headings.History,
		Description: w.Sentences.ChartHistory(name), X: w.Columns.Bundle, Y: strings.TrimSpace(name + " " + unit),
	}
	var arms [2][]string
	var studies, suites []string
	for _, row := range rows {
		add(&arms[side(row.Side)], Visible(row.Arm))
		add(&studies, row.Study)
		add(&suites, row.Study+"\x00"+row.Suite)
	}
	for i := range arms {
		f.Legend[i] = strings.Join(arms[i], "/")
	}
	type place struct{ study, suite, cell string }
	panels, last := map[place]int{}, map[place]string{}
	for _, row := range rows {
		at := place{row.Study, row.Suite, row.Cell}
		index, ok := panels[at]
		if !ok {
			title := []string{row.Cell}
			if len(suites) > 1 {
				title = append([]string{row.Suite}, title...)
			}
			if len(studies) > 1 {
				title = append([]string{row.Study}, title...)
			}
			index = len(f.Panels)
			panels[at] = index
			f.Panels = append(f.Panels, chart.Panel{Title: Visible(strings.Join(title, labelJoint))})
		}
		p := &f.Panels[index]
		if last[at] != row.Bundle {
			last[at] = row.Bundle
			var differs []string
			for _, code := range row.NotComparable {
				differs = append(differs, Visible(w.Names.Circumstance(code)))
			}
			p.Groups = append(p.Groups, chart.Group{Label: historyDay(row), Note: strings.Join(differs, w.ListComma), Break: len(differs) > 0})
		}
		g := &p.Groups[len(p.Groups)-1]
		if revision := shortRevision(row); revision != "" && !slices.Contains(strings.Split(g.Label, labelJoint), revision) {
			day := historyDay(row)
			g.Label = strings.TrimSuffix(g.Label, day) + revision + labelJoint + day
		}
		s := row.Summary
		g.Bars[side(row.Side)] = &chart.Bar{
			Median: style.Value(s.Median.Rat()), Min: style.Value(s.Min.Rat()), Max: style.Value(s.Max.Rat()),
			Tip: Visible(row.Arm) + labelJoint + historyDay(row) + labelJoint + Visible(row.Name) + w.Colon +
				style.Format(s.Median.Rat()) + " [" + style.Format(s.Min.Rat()) + numfmt.RangeDash + style.Format(s.Max.Rat()) + "] " + unit +
				w.ListComma + w.Sentences.NUnusual(s.N),
		}
	}
	return f
}

// labelJoint joins the parts of a label, and is where charts break it.
const labelJoint = " · "

func add(to *[]string, word string) {
	if !slices.Contains(*to, word) {
		*to = append(*to, word)
	}
}

func historyDay(row report.HistoryRow) string {
	if row.StartedAt.IsZero() {
		return "?"
	}
	return row.StartedAt.UTC().Format("2006-01-02")
}

// shortRevision is what identifies a commit to a reader.
func shortRevision(row report.HistoryRow) string {
	const long = 8
	if row.Revision == nil {
		return ""
	}
	runes := []rune(Visible(*row.Revision))
	return string(runes[:min(len(runes), long)])
}
