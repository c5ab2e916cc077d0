package analyze

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pairbench/analyze/report"
	"pairbench/records"
)

// The processes in testdata were made so that every figure of two published
// studies follows from them, digit for digit.

// databaseInput is the database study as a bundle without samples.
func databaseInput(t *testing.T) *input {
	factors := []records.RunFactor{
		{Name: "payload_bytes", Kind: records.FactorInt}, {Name: "cadence", Kind: records.FactorString},
		{Name: "connections", Kind: records.FactorInt}, {Name: "outstanding", Kind: records.FactorInt},
	}
	panel := []string{"payload_bytes", "cadence"}
	in := newInput("1", [2]string{"callback", "coroutine"},
		records.RunSuite{ID: "redis_tcp", Factors: factors, Panel: panel},
		records.RunSuite{ID: "mysql_tls", Factors: factors, Panel: panel})
	in.run.Origin, in.run.ImportFormat = "imported", ptr("csv")
	planned := map[string][2]*int64{}
	for _, row := range readCSV(t, "seed_counts.csv") {
		planned[row["cadence"]+row["connections"]+"/"+row["outstanding"]] = [2]*int64{atoi(t, row["measured_per_process"]), atoi(t, row["warmup_per_process"])}
	}
	known := map[cellKey]records.Cell{}
	for _, row := range readCSV(t, "processes_database.csv") {
		id := fmt.Sprintf("%sB/%s/%sc%so", row["payload_bytes"], row["cadence"], row["connections"], row["outstanding"])
		key := cellKey{row["suite"], id}
		c, ok := known[key]
		if !ok {
			counts := planned[row["cadence"]+row["connections"]+"/"+row["outstanding"]]
			c = records.Cell{
				CellID: id, Suite: row["suite"], PlannedOperations: counts[0], PlannedWarmupOperations: counts[1], OperationsPerSample: 1,
				Factors: []records.Factor{
					{Name: "payload_bytes", Value: records.IntFactor(*atoi(t, row["payload_bytes"]))},
					{Name: "cadence", Value: records.StringFactor(row["cadence"])},
					{Name: "connections", Value: records.IntFactor(*atoi(t, row["connections"]))},
					{Name: "outstanding", Value: records.IntFactor(*atoi(t, row["outstanding"]))},
				},
			}
			known[key] = c
			in.cells = append(in.cells, c)
		}
		side := records.SideA
		if row["arm"] == "coroutine" {
			side = records.SideB
		}
		in.addProcess(c, side, int32(*atoi(t, row["round"])), records.Process{
			MeasuredOperations: atoi(t, row["measured_operations"]), WarmupOperations: atoi(t, row["warmup_operations"]),
			ElapsedNs: atoi(t, row["elapsed_ns"]), CPUNs: atoi(t, row["cpu_ns"]),
			StatedLatencyP50Ns: atoi(t, row["p50_ns"]), StatedLatencyP99Ns: atoi(t, row["p99_ns"]),
			PeakRSSBytes: atoi(t, row["peak_rss_bytes"]), Errors: ptr(int64(0)),
		})
	}
	return in
}

// printed returns n divided by scale with a number of decimals, rounded half
// away from zero.
func printed(n *report.Number, scale int64, decimals int) string {
	if n == nil {
		return "absent"
	}
	return new(big.Rat).Quo(n.Rat(), new(big.Rat).SetInt64(scale)).FloatString(decimals)
}

// signed returns a change as the studies print it: the sign is of the exact
// value.
func signed(n *report.Number) string {
	text := printed(n, 1, 2)
	if n.Sign() >= 0 {
		return "+" + text + "%"
	}
	return "−" + strings.TrimPrefix(text, "-") + "%"
}

func TestDatabaseStudyDigitForDigit(t *testing.T) {
	checkDatabase(t, analyse(t, Options{}, databaseInput(t)))
}

// checkDatabase compares every figure of the study's tables with the report.
func checkDatabase(t *testing.T, r *report.Report) {
	t.Helper()
	scales := map[string]struct {
		metric   string
		scale    int64
		decimals int
	}{
		"throughput": {"throughput", 1, 1}, "cpu": {"cpu", 1, 2}, "p50": {"latency_p50", 1e6, 3},
		"p99": {"latency_p99", 1e6, 3}, "rss": {"peak_rss", 1 << 20, 3},
	}
	rows := readCSV(t, "seed_database.csv")
	for _, row := range rows {
		how := scales[row["metric"]]
		c := comparison(t, r, row["suite"], row["cell_id"], how.metric)
		arm := c.A
		if row["arm"] == "coroutine" {
			arm = c.B
		}
		got := []string{
			fmt.Sprint(arm.N), printed(arm.Median, how.scale, how.decimals), printed(arm.Min, how.scale, how.decimals),
			printed(arm.Max, how.scale, how.decimals), signed(c.ChangePct), map[bool]string{true: "yes", false: "no"}[*c.Overlap],
		}
		raw := func(column string) string { return strings.ReplaceAll(row[column], ",", "") }
		want := []string{row["n_runs"], raw("median_raw"), raw("min_raw"), raw("max_raw"), row["change_published"], row["overlap_published"]}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s %s %s %s: got %v, want %v", row["suite"], row["cell_id"], row["metric"], row["arm"], got, want)
		}
	}
	if len(rows) != 560 {
		t.Errorf("checker is broken: %d rows, expected 560", len(rows))
	}
}

func comparison(t *testing.T, r *report.Report, suite, cell, metric string) report.Comparison {
	t.Helper()
	for _, s := range r.Suites {
		for _, c := range s.Cells {
			for _, comparison := range c.Comparisons {
				if s.ID == suite && c.ID == cell && comparison.Metric == metric {
					return comparison
				}
			}
		}
	}
	t.Fatalf("no comparison %s %s %s", suite, cell, metric)
	return report.Comparison{}
}

func TestDatabaseStudySummaries(t *testing.T) {
	r := analyse(t, Options{}, databaseInput(t))
	for i, want := range []string{"redis_tcp −1.37% to +12.80% 22/28", "mysql_tls −3.01% to +0.81% 24/28"} {
		s := r.Suites[i].Summaries[0]
		got := fmt.Sprintf("%s %s to %s %d/%d", r.Suites[i].ID, signed(s.LowestPct), signed(s.HighestPct), s.Overlapping, s.Comparable)
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if chance := printed(s.DisjointByChance, 1, 1); chance != "2.8" {
			t.Errorf("%s: %s disjoint by chance, want 2.8", r.Suites[i].ID, chance)
		}
	}
	total := r.Totals
	got := fmt.Sprintf("%d processes, %d measured, %d warm-up, %d of %d under a second, %s to %s s, %d errors",
		total.Processes, total.MeasuredOperations, total.WarmupOperations, total.UnderOneSecond, total.Processes,
		seconds(total.ShortestElapsedNs), seconds(total.LongestElapsedNs), total.Errors)
	want := "336 processes, 5044224 measured, 768000 warm-up, 80 of 336 under a second, 0.383 to 3.046 s, 0 errors"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	counts := map[string]string{}
	for _, row := range readCSV(t, "seed_counts.csv") {
		counts[row["cadence"]+" "+row["connections"]+" "+row["outstanding"]] = row["measured_per_process"] + " " + row["warmup_per_process"]
	}
	for _, s := range r.Suites {
		if len(s.Counts) != len(counts) {
			t.Errorf("%s: %d rows of counts, want %d", s.ID, len(s.Counts), len(counts))
		}
		for _, c := range s.Counts {
			var key []string
			for _, f := range c.Factors {
				key = append(key, f.Value)
			}
			if got := fmt.Sprintf("%d %d", *c.Operations, *c.WarmupOperations); got != counts[strings.Join(key, " ")] || c.Cells != 2 {
				t.Errorf("%s %v: %s in %d cells, want %s in 2", s.ID, key, got, c.Cells, counts[strings.Join(key, " ")])
			}
		}
		if len(s.Panels) != 4 {
			t.Errorf("%s: %d panels, want 4", s.ID, len(s.Panels))
		}
	}
}

func seconds(ns *int64) string { return big.NewRat(*ns, 1e9).FloatString(3) }

// releaseInput is the release study as a bundle without samples.
func releaseInput(t *testing.T) *input {
	in := newInput("2", [2]string{"baseline", "candidate"}, records.RunSuite{ID: "release", Profile: "release", Factors: []records.RunFactor{{Name: "config", Kind: records.FactorString}}})
	known := map[string]records.Cell{}
	for _, row := range readCSV(t, "processes_release.csv") {
		c, ok := known[row["cell_id"]]
		if !ok {
			c = records.Cell{CellID: row["cell_id"], Suite: "release", Factors: []records.Factor{{Name: "config", Value: records.StringFactor(row["cell_id"])}}}
			known[row["cell_id"]] = c
			in.cells = append(in.cells, c)
		}
		side := records.SideA
		if row["arm"] == "candidate" {
			side = records.SideB
		}
		in.addProcess(c, side, int32(*atoi(t, row["round"])), records.Process{
			MeasuredOperations: atoi(t, row["operations"]), ElapsedNs: atoi(t, row["elapsed_ns"]), CPUNs: atoi(t, row["cpu_ns"]),
			StatedLatencyP50Ns: atoi(t, row["p50_ns"]), StatedLatencyP99Ns: atoi(t, row["p99_ns"]),
		})
	}
	return in
}

func TestReleaseStudyDigitForDigit(t *testing.T) {
	r := analyse(t, Options{}, releaseInput(t))
	scales := map[string]struct {
		metric string
		scale  int64
	}{"throughput": {"throughput", 1000}, "cpu": {"cpu", 1}, "p50": {"latency_p50", 1000}, "p99": {"latency_p99", 1000}}
	rows := readCSV(t, "seed_release.csv")
	for _, row := range rows {
		how := scales[row["metric"]]
		c := comparison(t, r, "release", row["cell_id"], how.metric)
		arm := c.A
		if row["arm"] == "candidate" {
			arm = c.B
		}
		check := func(what, got, want string) {
			if want = strings.ReplaceAll(want, ",", ""); want != "" && got != want {
				t.Errorf("%s %s %s %s: got %s, want %s", row["cell_id"], row["metric"], row["arm"], what, got, want)
			}
		}
		check("n", fmt.Sprint(arm.N), row["n_runs"])
		check("median", printed(arm.Median, how.scale, 2), row["median_raw"])
		check("min", printed(arm.Min, how.scale, 2), row["min_raw"])
		check("max", printed(arm.Max, how.scale, 2), row["max_raw"])
		check("change", signed(c.ChangePct), row["change_published"])
		check("efficiency change", signed(comparison(t, r, "release", row["cell_id"], "cpu_efficiency").ChangePct), row["cpu_efficiency_change_published"])
	}
	if s := r.Suites[0].Summaries[0]; s.Overlapping != 8 || s.Comparable != 8 {
		t.Errorf("%d of %d throughput ranges overlap, want 8 of 8", s.Overlapping, s.Comparable)
	}
	if got := signed(comparison(t, r, "release", "WebSocket/Boost/4_KiB", "latency_p99").ChangePct); got != "+13.29%" {
		t.Errorf("P99 of WebSocket 4 KiB changes by %s, want +13.29%%", got)
	}
}
