package analyze

import (
	"cmp"
	"context"
	"slices"

	"pairbench/analyze/report"
)

// History summarises each bundle by itself, and returns a row for each bundle,
// cell, shown metric and arm that has values, from the oldest bundle to the
// newest. The bundles may be of different plans and hosts: rows stand beside
// each other and nothing is computed across them.
func History(ctx context.Context, bundles []string) ([]report.HistoryRow, error) {
	var rows []report.HistoryRow
	for _, path := range bundles {
		r, err := Run(ctx, Options{Bundles: []string{path}})
		if err != nil {
			return nil, err
		}
		rows = append(rows, historyRows(r)...)
	}
	slices.SortStableFunc(rows, func(a, b report.HistoryRow) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.Bundle, b.Bundle))
	})
	return rows, nil
}

func historyRows(r *report.Report) []report.HistoryRow {
	var rows []report.HistoryRow
	for i := range r.Suites {
		s := &r.Suites[i]
		for c := range s.Cells {
			for m, comparison := range s.Cells[c].Comparisons {
				for k, arm := range []report.ArmSummary{comparison.A, comparison.B} {
					if arm.N == 0 {
						continue
					}
					rows = append(rows, report.HistoryRow{
						Bundle: r.Bundles[0].Identity, Name: r.Bundles[0].Name, StartedAt: r.Bundles[0].StartedAt,
						Study: r.Study.ID, Suite: s.ID, Cell: s.Cells[c].ID, Metric: s.Metrics[m],
						Side: r.Study.Arms[k].Side, Arm: r.Study.Arms[k].Name,
						Revision: r.Study.Arms[k].Revision, Digest: r.Study.Arms[k].Digest, Summary: arm,
					})
				}
			}
		}
	}
	return rows
}
