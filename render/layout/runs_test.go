package layout

import (
	"strings"
	"testing"

	"pairbench/analyze/report"
	"pairbench/analyze/report/reporttest"
	"pairbench/records"
	"pairbench/render/i18n"
)

// A program that is measured from its start to its end has no requests, no
// warm-up and no client, and nothing is said of any.
func TestProgramsMeasuredWholeAreNotCalledClients(t *testing.T) {
	for _, tag := range i18n.Languages() {
		w, _ := i18n.For(tag)
		requests := []string{w.Sentences.OutsideIntervals, w.Scope.LimitSaturation, w.Scope.LimitChange, w.Method.RSS, w.Method.Intervals,
			w.Scope.Latency, w.Names.CPUCovers("client"), w.Sentences.Errors("0", 0)}
		runs := []string{w.Scope.LimitChangeRuns, w.Method.RSSOfRun, w.Method.RunTime, w.Names.CPUScope("run"), w.Sentences.Errors("", 0)}
		r := reporttest.Database()
		holds := func(what string, want, not []string) {
			t.Helper()
			text := everything(Build(r, w, Options{}))
			for _, s := range want {
				if !strings.Contains(text, s) {
					t.Errorf("%s: %s does not say %q", tag, what, s)
				}
			}
			for _, s := range not {
				if strings.Contains(text, s) {
					t.Errorf("%s: %s says %q", tag, what, s)
				}
			}
		}
		r.Totals.Failed, r.Failures = 0, nil
		holds("a study of requests", requests, []string{w.Scope.LimitChangeRuns, w.Method.RSSOfRun, w.Method.RunTime})
		r.Totals.ErrorsUnstated = r.Totals.Processes
		for i := range r.Suites {
			s := &r.Suites[i]
			s.Workload, s.CPUScope, s.Service = "command", records.CPUScopeProcess, nil
			s.Totals.ErrorsUnstated = s.Totals.Processes
			for m := range s.Metrics {
				switch s.Metrics[m].ID {
				case "latency_p50":
					s.Metrics[m].ID = "run_time"
				case "latency_p99":
					s.Metrics[m] = report.Metric{ID: "cpu_efficiency", Unit: "per_sec", Better: "higher"}
				}
			}
		}
		holds("a study of programs", runs, requests)
	}
}

// everything is the prose of a document and the text of its tables.
func everything(d *Document) string {
	var b strings.Builder
	b.WriteString(prose(d))
	for _, s := range d.Sections {
		for _, block := range s.Blocks {
			if t, ok := block.(*Table); ok {
				for _, row := range t.Rows {
					for _, c := range row.Cells {
						b.WriteString(c.Text + "\n")
					}
				}
			}
		}
	}
	return b.String()
}
