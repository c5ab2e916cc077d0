package gate

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/records"
)

func TestParseThreshold(t *testing.T) {
	for _, c := range []struct {
		text, suite, metric string
		rule                Rule
		limit               string
	}{
		{"throughput >= -2%", "", "throughput", AtLeast, "-2"},
		{"latency_p99<=+5%", "", "latency_p99", AtMost, "5"},
		{"redis_tcp: peak_rss within 0.5 %", "redis_tcp", "peak_rss", Within, "1/2"},
	} {
		got, err := ParseThreshold(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got.Suite != c.suite || got.Metric != c.metric || got.Rule != c.rule || got.LimitPct.RatString() != c.limit {
			t.Errorf("%s: got %+v", c.text, got)
		}
	}
	for text, want := range map[string]string{
		"":                      "no >=, <= or within",
		"throughput":            "no >=, <= or within",
		"throughput > -2%":      "no >=, <= or within",
		"speed >= -2%":          `unknown metric "speed"`,
		"throughput >= -2":      "is no percentage",
		"throughput >= %":       "is no percentage",
		"throughput >= --2%":    "is no percentage",
		"throughput >= 1e9%":    "is no percentage",
		"throughput >= 1.2.3%":  "is no percentage",
		"throughput within -2%": "a margin is positive",
		": throughput >= -2%":   "the suite is empty",
	} {
		if _, err := ParseThreshold(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", text, err, want)
		}
	}
}

// reportOf has one suite with one cell, whose processes have these throughputs.
func reportOf(a, b []float64) *report.Report {
	cell := report.Cell{ID: "cell"}
	var rats [2][]*big.Rat
	for i, values := range [][]float64{a, b} {
		for round, v := range values {
			r := new(big.Rat).SetFloat64(v)
			n := report.NewNumber(r)
			rats[i] = append(rats[i], r)
			cell.Processes = append(cell.Processes, report.Process{
				Side: records.Sides[i], Round: int32(round + 1), Outcome: records.OutcomeOK, Values: []*report.Number{&n},
			})
		}
	}
	comparison := report.Comparison{Metric: "throughput", A: report.ArmSummary{N: len(a)}, B: report.ArmSummary{N: len(b)}}
	if len(a) > 0 && len(b) > 0 {
		if change, ok := stat.ChangePct(stat.Median(rats[0]), stat.Median(rats[1])); ok {
			n := report.NewNumber(change)
			comparison.ChangePct = &n
		}
	}
	cell.Comparisons = []report.Comparison{comparison}
	return &report.Report{Suites: []report.Suite{{ID: "suite", Metrics: []report.Metric{{ID: "throughput"}}, Cells: []report.Cell{cell}}}}
}

func run(t *testing.T, r *report.Report, thresholds ...string) Result {
	t.Helper()
	var parsed []Threshold
	for _, text := range thresholds {
		threshold, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, threshold)
	}
	return Run(r, parsed)
}

func TestVerdicts(t *testing.T) {
	steady := []float64{100, 100.2, 100.4, 99.8, 99.9, 100.1}
	scaled := func(f float64) []float64 {
		var out []float64
		for _, v := range steady {
			out = append(out, v*f)
		}
		return out
	}
	wide := []float64{90, 95, 100, 104, 108, 112}
	failed := reportOf(steady, steady)
	failed.Suites[0].Cells[0].Processes[0].Outcome = records.OutcomeTimeout
	floored := reportOf(steady, scaled(0.95))
	floored.Suites[0].Cells[0].Comparisons[0].Floor = &report.Floor{LowPct: -6, HighPct: 6, Inside: true, Cells: 12}
	foreign := reportOf(steady, steady)
	foreign.Notes = []report.Note{{Code: report.NoteNotComparable, Values: []string{"host"}}}
	for _, c := range []struct {
		name, threshold string
		r               *report.Report
		verdict         Verdict
		reason          string
	}{
		{"the same program", "throughput >= -2%", reportOf(steady, steady), Pass, ""},
		{"faster", "throughput >= -2%", reportOf(steady, scaled(1.3)), Pass, ""},
		{"five percent slower", "throughput >= -2%", reportOf(steady, scaled(0.95)), Regression, ""},
		{"an upper limit", "throughput <= 2%", reportOf(steady, scaled(1.05)), Regression, ""},
		{"too wide to tell", "throughput >= -2%", reportOf(steady, wide), Inconclusive, ReasonStraddles},
		{"two processes", "throughput >= -2%", reportOf(steady[:2], steady[:2]), Inconclusive, ReasonTooFew},
		{"three processes have a range", "throughput >= -2%", reportOf(steady[:3], scaled(0.5)[:3]), Regression, ""},
		{"equivalent", "throughput within 2%", reportOf(steady, scaled(1.001)), Pass, ""},
		{"not equivalent", "throughput within 2%", reportOf(steady, scaled(1.05)), Regression, ""},
		{"equivalence is not shown", "throughput within 2%", reportOf(steady, wide), Inconclusive, ReasonStraddles},
		{"a failed process", "throughput >= -2%", failed, Invalid, ReasonFailedProcesses},
		{"no arm B", "throughput >= -2%", reportOf(steady, nil), Invalid, ReasonArmMissing},
		{"zeros", "throughput >= -2%", reportOf([]float64{0, 0, 0}, steady), Invalid, ReasonNotComputable},
		{"another suite", "other: throughput >= -2%", reportOf(steady, steady), Invalid, ReasonNoSuchMetric},
		{"a metric that is not there", "latency_p99 <= 5%", reportOf(steady, steady), Invalid, ReasonNoSuchMetric},
		{"an A/A collection changes as much", "throughput >= -2%", floored, Inconclusive, ReasonInsideFloor},
		{"another host", "throughput >= -2%", foreign, Invalid, ReasonNotComparable},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := run(t, c.r, c.threshold)
			if got.Verdict != c.verdict || got.Checks[0].Reason != c.reason {
				t.Errorf("got %s %q, want %s %q: %+v", got.Verdict, got.Checks[0].Reason, c.verdict, c.reason, got.Checks[0].Interval)
			}
		})
	}
}

func TestTheWorstCheckDecides(t *testing.T) {
	steady := []float64{100, 100.2, 100.4, 99.8, 99.9, 100.1}
	got := run(t, reportOf(steady, steady), "throughput >= -2%", "throughput >= 5%", "throughput within 2%")
	if got.Verdict != Regression || got.Counts[Pass] != 2 || got.Counts[Regression] != 1 {
		t.Errorf("got %s, %v", got.Verdict, got.Counts)
	}
}

// TestSensitivity draws collections of six rounds with 1 % noise: an arm slowed
// by 5 % or 20 % is always found, and equal arms never are.
func TestSensitivity(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	draw := func(f float64) []float64 {
		values := make([]float64, 6)
		for i := range values {
			values[i] = 1000 * f * (1 + 0.01*random.NormFloat64())
		}
		return values
	}
	for range 20 {
		if got := run(t, reportOf(draw(1), draw(1)), "throughput >= -2%"); got.Verdict == Regression {
			t.Error("equal arms were called a regression")
		}
		for _, f := range []float64{0.95, 0.80} {
			if got := run(t, reportOf(draw(1), draw(f)), "throughput >= -2%"); got.Verdict != Regression {
				t.Errorf("an arm at %v was called %s", f, got.Verdict)
			}
		}
	}
}
