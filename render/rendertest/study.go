package rendertest

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"pairbench/analyze/report"
	"pairbench/records"
)

//go:embed testdata/database.csv
var databaseRows []byte

//go:embed testdata/release.csv
var releaseRows []byte

func label(en, zh string) report.Text { return report.Text{"en": en, "zh-CN": zh} }

// Database is the published database study: 56 cells, 336 processes, five
// metrics, with a latency distribution for each process.
func Database() *report.Report {
	callback, coroutine := label("callback", "回调"), label("coroutine", "协程")
	r := study("database", "paired", label("Database clients: callback and coroutine", "数据库客户端：回调与协程"), 3,
		report.Arm{Name: "callback", Label: callback}, report.Arm{Name: "coroutine", Label: coroutine})
	titles := map[string]report.Text{
		"redis_tcp": label("Redis ECHO over TCP", "基于 TCP 的 Redis ECHO"),
		"mysql_tls": label("MySQL text SELECT over TLS", "基于 TLS 的 MySQL 文本 SELECT"),
	}
	factors := []records.RunFactor{
		{Name: "payload_bytes", Kind: records.FactorInt, Unit: "bytes", Label: label("Payload", "消息体")},
		{Name: "cadence", Kind: records.FactorString, Label: label("Cadence", "更新间隔"),
			ValueLabels: map[string]map[string]string{"continuous": label("Continuous", "连续"), "1ms": label("1 ms", "1 ms")}},
		{Name: "connections", Kind: records.FactorInt, Label: label("Connections", "连接")},
		{Name: "outstanding", Kind: records.FactorInt, Label: label("Outstanding", "在途")},
	}
	metrics := []string{"throughput", "cpu", "latency_p50", "latency_p99", "peak_rss"}
	fill(r, databaseRows, factors, []string{"payload_bytes", "cadence"}, metrics, func(row map[string]string) (string, report.Text, string) {
		id := fmt.Sprintf("%sB/%s/%sc%so", row["payload_bytes"], row["cadence"], row["connections"], row["outstanding"])
		return row["suite"], titles[row["suite"]], id
	})
	return r
}

// Release is the published release study: 8 configurations, 80 processes, one
// suite whose only factor is the configuration.
func Release() *report.Report {
	revision, other := "2f1c3a9e", "9b77d01c"
	r := study("release", "release", label("Release comparison: baseline and candidate", "版本对比：基线与候选"), 5,
		report.Arm{Name: "baseline", Label: label("baseline", "基线"), Revision: &revision}, report.Arm{Name: "candidate", Label: label("candidate", "候选"), Revision: &other})
	fill(r, releaseRows, []records.RunFactor{{Name: "configuration", Kind: records.FactorString, Label: label("Configuration", "配置")}}, nil,
		[]string{"throughput", "cpu", "cpu_efficiency", "latency_p50", "latency_p99"}, func(row map[string]string) (string, report.Text, string) {
			row["configuration"] = strings.ReplaceAll(strings.ReplaceAll(row["cell_id"], "/", " · "), "_", " ")
			row["measured_operations"] = row["operations"]
			return "release", label("Release", "版本"), row["cell_id"]
		})
	return r
}

func study(profile, layout string, title report.Text, rounds int, a, b report.Arm) *report.Report {
	a.Side, b.Side = records.SideA, records.SideB
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	model, logical, memory, system, kernel, clock := "Example 8-core processor", "8", "34359738368", "Debian GNU/Linux 12", "6.18.5", "tsc"
	return &report.Report{
		SchemaVersion: report.SchemaVersion, ToolVersion: "1.0.0",
		Study: report.Study{ID: profile, Title: title, Profile: profile, Layout: layout, Arms: [2]report.Arm{a, b}, Rounds: rounds,
			Order: records.RunOrder{Kind: "alternate"}, Origin: "collected", PlanSHA256: strings.Repeat("2c", 32)},
		Bundles: []report.Bundle{{Identity: strings.Repeat("fcde2b2e", 8), Name: "bundle", StartedAt: start, EndedAt: start.Add(time.Hour), Lock: "complete"}},
		Scope: report.Scope{StartedAt: start, EndedAt: start.Add(time.Hour), Hosts: []report.Host{{Facts: []records.HostFact{
			{Name: "cpu.model", Value: &model, Source: "/proc/cpuinfo"}, {Name: "cpu.logical", Value: &logical, Source: "/proc/cpuinfo"},
			{Name: "memory.total_bytes", Value: &memory, Source: "/proc/meminfo"}, {Name: "os.name", Value: &system, Source: "/etc/os-release"},
			{Name: "kernel.release", Value: &kernel, Source: "uname"}, {Name: "clock.source", Value: &clock, Source: "/sys"},
		}}}, Versions: map[string][]string{"go": {"go1.26.8"}}, RSSSources: []string{"vmhwm_at_done"}, ClientCPUs: []string{"0"}, ServerCPUs: []string{"1"}},
	}
}

type numbers map[string]int64

func fill(r *report.Report, data []byte, factors []records.RunFactor, panel, metrics []string, place func(map[string]string) (string, report.Text, string)) {
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		panic(err) // embedded, and read by every test
	}
	for no, cells := range rows[1:] {
		row := map[string]string{}
		for i, name := range rows[0] {
			row[name] = cells[i]
		}
		suiteID, title, cellID := place(row)
		s := findSuite(r, suiteID)
		if s == nil {
			r.Suites = append(r.Suites, report.Suite{ID: suiteID, Title: title, Profile: r.Study.Profile, Workload: "echo", Factors: factors, Panel: panel,
				CPUScope: records.CPUScopeInterval, CPUCovers: "client", LatencyCovers: "request"})
			s = &r.Suites[len(r.Suites)-1]
			for _, id := range metrics {
				s.Metrics = append(s.Metrics, metric(id))
			}
		}
		c := findCell(s, cellID)
		if c == nil {
			s.Cells = append(s.Cells, report.Cell{ID: cellID})
			c = &s.Cells[len(s.Cells)-1]
			for _, f := range factors {
				c.Factors = append(c.Factors, report.FactorValue{Name: f.Name, Kind: f.Kind, Value: row[f.Name]})
			}
		}
		n := numbers{}
		for name, text := range row {
			if v, err := strconv.ParseInt(text, 10, 64); err == nil {
				n[name] = v
			}
		}
		c.Processes = append(c.Processes, process(r, s, c, row, n, int32(no+1)))
		r.Totals.WarmupOperations += n["warmup_operations"]
		s.Totals.WarmupOperations += n["warmup_operations"]
	}
	for i := range r.Suites {
		finish(r, &r.Suites[i])
	}
}

func findSuite(r *report.Report, id string) *report.Suite {
	for i := range r.Suites {
		if r.Suites[i].ID == id {
			return &r.Suites[i]
		}
	}
	return nil
}

func findCell(s *report.Suite, id string) *report.Cell {
	for i := range s.Cells {
		if s.Cells[i].ID == id {
			return &s.Cells[i]
		}
	}
	return nil
}

func metric(id string) report.Metric {
	switch id {
	case "cpu":
		return report.Metric{ID: id, Unit: "pct", Better: "neither"}
	case "latency_p50", "latency_p99":
		return report.Metric{ID: id, Unit: "ns", Better: "lower"}
	case "peak_rss":
		return report.Metric{ID: id, Unit: "bytes", Better: "lower"}
	default:
		return report.Metric{ID: id, Unit: "per_sec", Better: "higher"}
	}
}

func process(r *report.Report, s *report.Suite, c *report.Cell, row map[string]string, n numbers, no int32) report.Process {
	operations, elapsed, samples, exit := n["measured_operations"], n["elapsed_ns"], n["measured_operations"], int32(0)
	p := report.Process{
		ProcessNo: no, ProcessID: strings.Join([]string{s.ID, c.ID, row["arm"], "r" + row["round"]}, "/"),
		Side: records.SideA, Round: int32(n["round"]), Slot: no, FirstInPair: (n["round"]%2 == 1) == (row["arm"] == r.Study.Arms[0].Name),
		StartedAt: r.Scope.StartedAt.Add(time.Duration(no) * 5 * time.Second), Outcome: records.OutcomeOK, ExitCode: &exit,
		MeasuredOperations: &operations, ElapsedNs: &elapsed, SampleCount: &samples,
		SampleFile: fmt.Sprintf("data/samples/%05d.parquet", no), SampleSHA256: fmt.Sprintf("%064x", int64(no)*7919),
		StdoutSHA256: strings.Repeat("e3b0c442", 8), StderrSHA256: strings.Repeat("e3b0c442", 8),
	}
	if row["arm"] == r.Study.Arms[1].Name {
		p.Side = records.SideB
	}
	for _, m := range s.Metrics {
		p.Values = append(p.Values, value(m.ID, n))
	}
	for _, q := range report.DistributionPermyriads {
		// A shape with a knee between p50 and p99, for the pictures only.
		switch {
		case q <= 5000:
			p.Latency = append(p.Latency, n["p50_ns"]*(7000+int64(q)*3/5)/10000)
		case q <= 9900:
			p.Latency = append(p.Latency, n["p50_ns"]+(n["p99_ns"]-n["p50_ns"])*int64(q-5000)/4900)
		default:
			p.Latency = append(p.Latency, n["p99_ns"]*(9900+int64(q-9900)*40)/9900)
		}
	}
	return p
}

func value(id string, n numbers) *report.Number {
	var r *big.Rat
	switch id {
	case "throughput":
		r = new(big.Rat).SetFrac(big.NewInt(n["measured_operations"]*1e9), big.NewInt(n["elapsed_ns"]))
	case "cpu":
		r = big.NewRat(n["cpu_ns"]*100, n["elapsed_ns"])
	case "cpu_efficiency":
		r = new(big.Rat).SetFrac(big.NewInt(n["measured_operations"]*1e9), big.NewInt(n["cpu_ns"]))
	case "latency_p50":
		r = big.NewRat(n["p50_ns"], 1)
	case "latency_p99":
		r = big.NewRat(n["p99_ns"], 1)
	default:
		r = big.NewRat(n["peak_rss_bytes"], 1)
	}
	v := report.NewNumber(r)
	return &v
}

// median returns the median, the least and the greatest of numbers.
func median(rats []*big.Rat) (mid, low, high *report.Number) {
	slices.SortFunc(rats, func(a, b *big.Rat) int { return a.Cmp(b) })
	m := new(big.Rat).Add(rats[(len(rats)-1)/2], rats[len(rats)/2])
	m.Quo(m, big.NewRat(2, 1))
	number := func(r *big.Rat) *report.Number { n := report.NewNumber(r); return &n }
	return number(m), number(rats[0]), number(rats[len(rats)-1])
}

func finish(r *report.Report, s *report.Suite) {
	for ci := range s.Cells {
		c := &s.Cells[ci]
		for m := range s.Metrics {
			c.Comparisons = append(c.Comparisons, compare(s.Metrics[m].ID, m, c.Processes))
		}
		for pi := range c.Processes {
			p := &c.Processes[pi]
			for _, t := range []*report.Totals{&r.Totals, &s.Totals} {
				t.Processes++
				t.MeasuredOperations += *p.MeasuredOperations
				t.Samples += *p.SampleCount
				if *p.ElapsedNs < 1e9 {
					t.UnderOneSecond++
				}
				if t.ShortestElapsedNs == nil || *p.ElapsedNs < *t.ShortestElapsedNs {
					t.ShortestElapsedNs = p.ElapsedNs
				}
				if t.LongestElapsedNs == nil || *p.ElapsedNs > *t.LongestElapsedNs {
					t.LongestElapsedNs = p.ElapsedNs
				}
			}
		}
		operations := *c.Processes[0].MeasuredOperations
		s.Counts = append(s.Counts, report.Count{Factors: c.Factors, Operations: &operations, Cells: 1})
	}
	for m := range s.Metrics {
		s.Summaries = append(s.Summaries, summarise(s, m))
	}
	panels := map[string]int{}
	for ci, c := range s.Cells {
		var key string
		var values []report.FactorValue
		for _, f := range c.Factors {
			if slices.Contains(s.Panel, f.Name) {
				key += f.Value + "\x00"
				values = append(values, f)
			}
		}
		at, ok := panels[key]
		if !ok {
			at = len(s.Panels)
			panels[key] = at
			s.Panels = append(s.Panels, report.PanelResult{Factors: values})
		}
		s.Panels[at].Cells = append(s.Panels[at].Cells, ci)
	}
	for i := range s.Panels {
		for m := range s.Metrics {
			var changes []*big.Rat
			for _, ci := range s.Panels[i].Cells {
				changes = append(changes, s.Cells[ci].Comparisons[m].ChangePct.Rat())
			}
			mid, _, _ := median(changes)
			s.Panels[i].MedianChangePct = append(s.Panels[i].MedianChangePct, mid)
		}
	}
}

func compare(id string, m int, processes []report.Process) report.Comparison {
	c := report.Comparison{Metric: id}
	for side, arm := range []*report.ArmSummary{&c.A, &c.B} {
		var rats []*big.Rat
		for _, p := range processes {
			if p.Side == records.Sides[side] {
				rats = append(rats, p.Values[m].Rat())
			}
		}
		arm.N = len(rats)
		arm.Median, arm.Min, arm.Max = median(rats)
	}
	change := new(big.Rat).Quo(c.B.Median.Rat(), c.A.Median.Rat())
	change.Mul(change.Sub(change, big.NewRat(1, 1)), big.NewRat(100, 1))
	n := report.NewNumber(change)
	overlap := c.A.Min.Rat().Cmp(c.B.Max.Rat()) <= 0 && c.B.Min.Rat().Cmp(c.A.Max.Rat()) <= 0
	c.ChangePct, c.Overlap = &n, &overlap
	return c
}

func summarise(s *report.Suite, m int) report.Summary {
	sum := report.Summary{Metric: s.Metrics[m].ID}
	var changes []*big.Rat
	for _, c := range s.Cells {
		cmp := c.Comparisons[m]
		changes = append(changes, cmp.ChangePct.Rat())
		if sum.LowestPct == nil || cmp.ChangePct.Rat().Cmp(sum.LowestPct.Rat()) < 0 {
			sum.LowestPct, sum.LowestCell = cmp.ChangePct, c.ID
		}
		if sum.HighestPct == nil || cmp.ChangePct.Rat().Cmp(sum.HighestPct.Rat()) > 0 {
			sum.HighestPct, sum.HighestCell = cmp.ChangePct, c.ID
		}
		sum.Comparable++
		if *cmp.Overlap {
			sum.Overlapping++
		}
	}
	sum.MedianPct, _, _ = median(changes)
	if s.Cells[0].Comparisons[m].A.N == 3 {
		chance := report.NewNumber(big.NewRat(int64(len(s.Cells)), 10)) // 1 in 10 for three against three
		sum.DisjointByChance = &chance
	}
	return sum
}
