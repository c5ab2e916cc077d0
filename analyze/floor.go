package analyze

import (
	"errors"
	"fmt"
	"math/big"

	"pairbench/analyze/report"
)

// ErrNotAA is returned for a floor whose arms were not the same program.
var ErrNotAA = errors.New("not an A/A analysis: collect it with --aa")

// readFloor reads the analysis of an A/A collection: a directory or its
// report.json.
func readFloor(path string) (*report.Report, error) {
	r, err := ReadReport(path)
	if err != nil {
		return nil, fmt.Errorf("read floor %s: %w", path, err)
	}
	if !r.Study.AA {
		return nil, fmt.Errorf("read floor %s: %w", path, ErrNotAA)
	}
	return r, nil
}

// applyFloor places every change of r against the changes that the A/A
// analysis shows for the same metric, of the same suite where it has it.
//
// Which label of an A/A collection came out higher is chance, so the envelope
// reaches as far down as up: with m the largest ratio of two medians, either
// way round, from 1/m - 1 to m - 1.
func applyFloor(r, aa *report.Report) {
	for i := range r.Suites {
		s := &r.Suites[i]
		s.Notes = append(s.Notes, positionOf(aa, s.ID, s.Metrics)...)
		for m := range s.Metrics {
			changes := changesOf(aa, s.ID, s.Metrics[m].ID)
			if len(changes) == 0 {
				changes = changesOf(aa, "", s.Metrics[m].ID)
			}
			if len(changes) == 0 {
				continue
			}
			low, high := envelope(changes)
			for c := range s.Cells {
				comparison := &s.Cells[c].Comparisons[m]
				if comparison.ChangePct == nil {
					continue
				}
				change := comparison.ChangePct.Rat()
				comparison.Floor = &report.Floor{
					LowPct: float(low), HighPct: float(high), Cells: len(changes),
					Inside: change.Cmp(low) >= 0 && change.Cmp(high) <= 0,
				}
			}
		}
	}
}

// positionOf lists what the A/A analysis says of the place in the pair, for the
// metrics that are shown of a suite that it has.
func positionOf(aa *report.Report, suite string, shown []report.Metric) []report.Note {
	var notes []report.Note
	for i := range aa.Suites {
		if aa.Suites[i].ID != suite {
			continue
		}
		for _, n := range aa.Suites[i].Notes {
			if n.Code == report.NoteSamePosition && len(n.Values) > 0 {
				notes = append(notes, report.Note{Code: n.Code, Metric: n.Metric, Values: []string{n.Values[0], report.PositionOfFloor}})
			}
		}
	}
	return notesOn(shown, notes)
}

// envelope is the range of changes in percent that the given changes of equal
// arms span, each taken both ways round.
func envelope(changes []*big.Rat) (low, high *big.Rat) {
	one, hundred := big.NewRat(1, 1), big.NewRat(100, 1)
	ratio := func(change *big.Rat) *big.Rat {
		r := new(big.Rat).Quo(change, hundred)
		return r.Add(r, one)
	}
	percent := func(ratio *big.Rat) *big.Rat {
		p := new(big.Rat).Sub(ratio, one)
		return p.Mul(p, hundred)
	}
	least, most := one, one
	reach := func(r *big.Rat) {
		if r.Cmp(least) < 0 {
			least = r
		}
		if r.Cmp(most) > 0 {
			most = r
		}
	}
	for _, change := range changes {
		r := ratio(change)
		reach(r)
		// A median of zero has no other way round.
		if r.Sign() > 0 {
			reach(new(big.Rat).Inv(r))
		}
	}
	return percent(least), percent(most)
}

// changesOf lists the changes of a metric over the cells of a suite, or of all
// suites for "".
func changesOf(r *report.Report, suite, metric string) []*big.Rat {
	var changes []*big.Rat
	for i := range r.Suites {
		s := &r.Suites[i]
		if suite != "" && s.ID != suite {
			continue
		}
		for m := range s.Metrics {
			if s.Metrics[m].ID != metric {
				continue
			}
			for c := range s.Cells {
				if change := s.Cells[c].Comparisons[m].ChangePct; change != nil {
					changes = append(changes, change.Rat())
				}
			}
		}
	}
	return changes
}
