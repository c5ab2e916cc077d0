package layout

import (
	"pairbench/analyze/report"
	"pairbench/render/i18n"
	"pairbench/render/numfmt"
)

// Overview is a suite's summaries in a few words, for a terminal.
type Overview struct {
	Suite string
	Lines []OverviewLine
}

// OverviewLine is one metric: the range of its changes, their median, and k/n
// overlapping ranges. What is not computable is empty.
type OverviewLine struct{ Metric, Changes, Median, Overlap string }

// Overviews returns the summaries of a valid report in the language of w.
func Overviews(r *report.Report, w *i18n.Words) []Overview {
	b := &builder{r: r, w: wordsFor(r, w)}
	var all []Overview
	for i := range r.Suites {
		s := &r.Suites[i]
		o := Overview{Suite: b.suiteTitle(s)}
		for m := range s.Summaries {
			sum := &s.Summaries[m]
			line := OverviewLine{Metric: b.metric(s.Metrics[m])}
			if sum.LowestPct != nil && sum.HighestPct != nil {
				line.Changes = b.changeRange(s, sum)
			}
			if sum.MedianPct != nil {
				line.Median = b.change(s, sum.MedianPct)
			}
			if sum.Comparable > 0 {
				line.Overlap = numfmt.Share(sum.Overlapping, sum.Comparable)
			}
			o.Lines = append(o.Lines, line)
		}
		all = append(all, o)
	}
	return all
}

// Heading returns the study's title and the question it answers.
func Heading(r *report.Report, w *i18n.Words) (title, lead string) {
	b := &builder{r: r, w: w}
	return b.text(r.Study.Title, r.Study.ID), b.question()
}
