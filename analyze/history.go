package analyze

import (
	"context"
	"slices"

	"pairbench/analyze/report"
)

// History summarises each bundle by itself, and returns a row for each bundle,
// cell, shown metric and arm that has values, from the oldest bundle to the
// newest; those that do not say when they ran come first, in the order in which
// they are named. The bundles may be of different plans and hosts: rows stand beside
// each other, nothing is computed across them, and a row says where it does not
// compare with the one before.
func History(ctx context.Context, bundles []string) ([]report.HistoryRow, error) {
	type entry struct {
		in *input
		r  *report.Report
	}
	var entries []entry
	for _, path := range bundles {
		in, r, err := historyEntry(ctx, path)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{in, r})
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return a.in.run.StartedAt.Compare(b.in.run.StartedAt)
	})
	type place struct{ study, suite, cell string }
	before := map[place]*input{}
	var rows []report.HistoryRow
	for _, e := range entries {
		for _, row := range historyRows(e.r) {
			at := place{row.Study, row.Suite, row.Cell}
			if last := before[at]; last != nil {
				row.NotComparable = differences(last, e.in)
			}
			rows = append(rows, row)
		}
		for _, c := range e.in.cells {
			before[place{e.in.run.Study, c.Suite, c.CellID}] = e.in
		}
	}
	return rows, nil
}

// historyEntry analyses one bundle. Of the bundle only what tells hosts, plans
// and services apart is used afterwards: its samples are closed.
func historyEntry(ctx context.Context, path string) (*input, *report.Report, error) {
	in, closeBundle, err := openBundle(path)
	if err != nil {
		return nil, nil, err
	}
	defer closeBundle() // only reading: nothing is lost when it fails
	st, err := join([]*input{in})
	if err != nil {
		return nil, nil, err
	}
	r, err := st.run(ctx, Options{})
	in.processes, in.inputs = nil, nil
	return in, r, err
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
