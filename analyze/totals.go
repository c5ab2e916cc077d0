package analyze

import (
	"strings"

	"pairbench/analyze/report"
	"pairbench/records"
)

// totals counts what the suite's processes measured.
func (s *suite) totals() report.Totals {
	var t report.Totals
	for _, c := range s.cells {
		for _, p := range c.processes {
			one := report.Totals{Processes: 1}
			if p.Errors != nil {
				one.Errors = *p.Errors
			} else {
				one.ErrorsUnstated = 1
			}
			if p.ok() {
				addOK(&one, p)
			} else {
				one.Failed = 1
			}
			addTotals(&t, one)
		}
	}
	return t
}

func addOK(t *report.Totals, p *process) {
	if p.MeasuredOperations != nil {
		t.MeasuredOperations = *p.MeasuredOperations
	}
	if p.WarmupOperations != nil {
		t.WarmupOperations = *p.WarmupOperations
	}
	t.Samples = p.samples.n
	t.MissedTicks = p.MissedTicks
	if p.ElapsedNs != nil {
		t.ShortestElapsedNs, t.LongestElapsedNs = p.ElapsedNs, p.ElapsedNs
		if *p.ElapsedNs < 1e9 {
			t.UnderOneSecond = 1
		}
	}
}

// addTotals adds the totals of a part to t.
func addTotals(t *report.Totals, part report.Totals) {
	t.Processes += part.Processes
	t.Failed += part.Failed
	t.MeasuredOperations += part.MeasuredOperations
	t.WarmupOperations += part.WarmupOperations
	t.Samples += part.Samples
	t.Errors += part.Errors
	t.ErrorsUnstated += part.ErrorsUnstated
	t.UnderOneSecond += part.UnderOneSecond
	if v := part.ShortestElapsedNs; v != nil && (t.ShortestElapsedNs == nil || *v < *t.ShortestElapsedNs) {
		t.ShortestElapsedNs = v
	}
	if v := part.LongestElapsedNs; v != nil && (t.LongestElapsedNs == nil || *v > *t.LongestElapsedNs) {
		t.LongestElapsedNs = v
	}
	if v := part.MissedTicks; v != nil {
		sum := *v
		if t.MissedTicks != nil {
			sum += *t.MissedTicks
		}
		t.MissedTicks = &sum
	}
}

// amounts is what a cell plans for one process.
type amounts struct {
	operations, warmupOperations, duration, warmupDuration int64
	has                                                    [4]bool
}

func amountsOf(c records.Cell) (a amounts) {
	for i, v := range []*int64{c.PlannedOperations, c.PlannedWarmupOperations, c.PlannedDurationNs, c.PlannedWarmupDurationNs} {
		if v != nil {
			*[]*int64{&a.operations, &a.warmupOperations, &a.duration, &a.warmupDuration}[i] = *v
			a.has[i] = true
		}
	}
	return a
}

// counts lists the planned amounts by the factors that decide them: a factor is
// left out when the others still tell the amounts apart.
func (s *suite) counts() []report.Count {
	var deciding []string
	for _, f := range s.run.Factors {
		if !f.Constant {
			deciding = append(deciding, f.Name)
		}
	}
	for i := 0; i < len(deciding); {
		fewer := append(append([]string(nil), deciding[:i]...), deciding[i+1:]...)
		if s.decides(fewer) {
			deciding = fewer
		} else {
			i++
		}
	}
	at := map[string]int{}
	var counts []report.Count
	for _, c := range s.cells {
		if amountsOf(c.Cell) == (amounts{}) {
			continue
		}
		key := factorKey(c.Cell, deciding)
		i, ok := at[key]
		if !ok {
			i = len(counts)
			at[key] = i
			count := report.Count{
				Operations: c.PlannedOperations, WarmupOperations: c.PlannedWarmupOperations,
				DurationNs: c.PlannedDurationNs, WarmupDurationNs: c.PlannedWarmupDurationNs,
				Factors: []report.FactorValue{},
			}
			for _, name := range deciding {
				if v, ok := c.Factor(name); ok {
					count.Factors = append(count.Factors, report.FactorValue{Name: name, Kind: v.Kind, Value: v.String()})
				}
			}
			counts = append(counts, count)
		}
		counts[i].Cells++
	}
	return counts
}

// decides reports whether cells that agree in the named factors agree in their
// amounts.
func (s *suite) decides(names []string) bool {
	seen := map[string]amounts{}
	for _, c := range s.cells {
		key := factorKey(c.Cell, names)
		if known, ok := seen[key]; ok && known != amountsOf(c.Cell) {
			return false
		}
		seen[key] = amountsOf(c.Cell)
	}
	return true
}

func factorKey(c records.Cell, names []string) string {
	var key strings.Builder
	for _, name := range names {
		if v, ok := c.Factor(name); ok {
			key.WriteString(v.String())
		}
		key.WriteByte(0)
	}
	return key.String()
}
