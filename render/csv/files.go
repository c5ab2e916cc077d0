package csv

import (
	"sort"
	"strconv"
	"time"

	"pairbench/analyze/report"
	"pairbench/render/layout"
	"pairbench/render/numfmt"
)

// File is one CSV file by its path relative to the report.
type File struct {
	Path    string
	Content []byte
}

// Files writes every table of a valid report. The text columns are the digits
// that the report shows, which are the same in every language.
func Files(r *report.Report) []File {
	var files []File
	for i := range r.Suites {
		for m := range r.Suites[i].Metrics {
			files = append(files, File{"csv/" + layout.FileName(r, i, r.Suites[i].Metrics[m].ID) + ".csv", metricFile(r, i, m)})
		}
	}
	return append(files, File{"csv/processes.csv", processFile(r)})
}

func metricFile(r *report.Report, suite, m int) []byte {
	s := &r.Suites[suite]
	metric := s.Metrics[m]
	style := numfmt.Profile(s.Profile).Metric(metric.ID, metric.Unit)
	change := numfmt.Profile(s.Profile).Change()
	var t table
	head := []field{value("suite"), value("cell_id")}
	for _, f := range s.Factors {
		head = append(head, foreign(f.Name))
	}
	for _, name := range []string{"metric", "unit", "better",
		"a_arm", "a_n", "a_median", "a_min", "a_max", "b_arm", "b_n", "b_median", "b_min", "b_max",
		"change_pct", "change_reason", "overlap", "overlap_reason", "shown_unit", "a_text", "b_text", "change_text", "floor_low_pct", "floor_high_pct", "floor_inside"} {
		head = append(head, value(name))
	}
	t.row(head...)
	for ci := range s.Cells {
		c := &s.Cells[ci]
		cmp := &c.Comparisons[m]
		row := []field{foreign(s.ID), foreign(c.ID)}
		for _, f := range c.Factors {
			row = append(row, foreign(f.Value))
		}
		row = append(row, foreign(metric.ID), foreign(metric.Unit), foreign(metric.Better))
		for side, a := range [2]report.ArmSummary{cmp.A, cmp.B} {
			row = append(row, foreign(r.Study.Arms[side].Name), value(strconv.Itoa(a.N)), number(a.Median), number(a.Min), number(a.Max))
		}
		row = append(row, number(cmp.ChangePct), foreign(cmp.ChangeReason), flag(cmp.Overlap), foreign(cmp.OverlapReason), value(string(style.Unit)))
		for _, a := range [2]report.ArmSummary{cmp.A, cmp.B} {
			text, _ := layout.ArmText(style, a)
			row = append(row, value(text))
		}
		changeText := ""
		if cmp.ChangePct != nil {
			changeText = change.Format(cmp.ChangePct.Rat())
		}
		row = append(row, value(changeText))
		if f := cmp.Floor; f != nil {
			row = append(row, decimal(f.LowPct), decimal(f.HighPct), flag(&f.Inside))
		} else {
			row = append(row, value(""), value(""), value(""))
		}
		t.row(row...)
	}
	return []byte(t.b.String())
}

// number writes the nearest float64 with as few digits as give it back, or an
// integer in full; absent is an empty field.
func number(n *report.Number) field {
	switch {
	case n == nil:
		return value("")
	case n.Rat().IsInt():
		return value(n.Rat().Num().String())
	default:
		return decimal(n.Float())
	}
}

func decimal(v float64) field { return value(strconv.FormatFloat(v, 'f', -1, 64)) }

func flag(v *bool) field {
	if v == nil {
		return value("")
	}
	return value(strconv.FormatBool(*v))
}

func integer[T int32 | int64](v *T) field {
	if v == nil {
		return value("")
	}
	return value(strconv.FormatInt(int64(*v), 10))
}

// processFile has one row per process. Its metric columns are those of all
// suites, sorted by id.
func processFile(r *report.Report) []byte {
	seen := map[string]bool{}
	var metrics []string
	for i := range r.Suites {
		for _, m := range r.Suites[i].Metrics {
			if !seen[m.ID] {
				seen[m.ID] = true
				metrics = append(metrics, m.ID)
			}
		}
	}
	sort.Strings(metrics)
	var t table
	var head []field
	for _, name := range []string{"bundle", "process_no", "process_id", "suite", "cell_id", "arm", "side", "round", "slot", "first_in_pair",
		"started_at", "outcome", "detail", "exit_code", "signal", "measured_operations", "elapsed_ns", "sample_count", "sample_file", "sample_sha256",
		"stdout", "stdout_bytes", "stdout_sha256", "stderr", "stderr_bytes", "stderr_sha256"} {
		head = append(head, value(name))
	}
	for _, id := range metrics {
		head = append(head, foreign(id))
	}
	t.row(head...)
	for i := range r.Suites {
		s := &r.Suites[i]
		column := map[string]int{}
		for m := range s.Metrics {
			column[s.Metrics[m].ID] = m
		}
		for ci := range s.Cells {
			for pi := range s.Cells[ci].Processes {
				p := &s.Cells[ci].Processes[pi]
				arm := r.Study.Arms[0].Name
				if p.Side == r.Study.Arms[1].Side {
					arm = r.Study.Arms[1].Name
				}
				row := []field{
					foreign(r.Bundles[p.Bundle].Identity), value(strconv.Itoa(int(p.ProcessNo))), foreign(p.ProcessID), foreign(s.ID), foreign(s.Cells[ci].ID),
					foreign(arm), value(string(p.Side)), value(strconv.Itoa(int(p.Round))), value(strconv.Itoa(int(p.Slot))), value(strconv.FormatBool(p.FirstInPair)),
					instant(p.StartedAt), foreign(string(p.Outcome)), foreign(p.Detail), integer(p.ExitCode), integer(p.Signal),
					integer(p.MeasuredOperations), integer(p.ElapsedNs), integer(p.SampleCount), foreign(p.SampleFile), foreign(p.SampleSHA256),
					foreign(p.Stdout), value(strconv.FormatInt(p.StdoutBytes, 10)), foreign(p.StdoutSHA256),
					foreign(p.Stderr), value(strconv.FormatInt(p.StderrBytes, 10)), foreign(p.StderrSHA256),
				}
				for _, id := range metrics {
					if m, ok := column[id]; ok {
						row = append(row, number(p.Values[m]))
					} else {
						row = append(row, value(""))
					}
				}
				t.row(row...)
			}
		}
	}
	return []byte(t.b.String())
}

// instant is a time in UTC; "" for none.
func instant(t time.Time) field {
	if t.IsZero() {
		return value("")
	}
	return value(t.UTC().Format("2006-01-02T15:04:05.000000Z"))
}
