package analyze

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"

	"pairbench/analyze/report"
	"pairbench/analyze/stat"
)

// ErrNotAA is returned for a floor whose arms were not the same program.
var ErrNotAA = errors.New("not an A/A analysis: collect it with --aa")

// readFloor reads the analysis of an A/A collection: a directory or its
// report.json.
func readFloor(path string) (*report.Report, error) {
	file := path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		file = filepath.Join(path, ReportFile)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read floor: %w", err)
	}
	defer f.Close()
	r, err := report.Decode(f)
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
func applyFloor(r, aa *report.Report) {
	for i := range r.Suites {
		s := &r.Suites[i]
		for m := range s.Metrics {
			changes := changesOf(aa, s.ID, s.Metrics[m].ID)
			if len(changes) == 0 {
				changes = changesOf(aa, "", s.Metrics[m].ID)
			}
			low, high := stat.Range(changes)
			if low == nil {
				continue
			}
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
