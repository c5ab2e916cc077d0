package reporttest

import (
	"fmt"
	"math/big"
	"sort"
	"time"

	"pairbench/analyze/report"
	"pairbench/records"
)

// Hostile is a text that is harmful when it is not escaped: markup, a script's
// end, a table's pipe, quotes, a spreadsheet formula, a newline, an ANSI
// sequence and a right-to-left override.
const Hostile = "=cmd|'/c calc'!A1 <img src=x onerror=alert(1)></script> a|b \"q\" `x`\n\x1b[31m\u202egnp"

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC)

// value is one process of a fixture, in base units; a negative field is absent.
type value struct{ operations, elapsed, cpu, p50, p99, rss int64 }

type builder struct {
	r    *report.Report
	next int32
}

func newReport(id, profile, layout string, arms [2]report.Arm, rounds int) *builder {
	kernel, absent := "6.18.5", "no battery in this machine"
	return &builder{next: 1, r: &report.Report{
		SchemaVersion: report.SchemaVersion,
		ToolVersion:   "1.0.0",
		Study: report.Study{
			ID: id, Title: report.Text{"en": "Study " + id, "zh-CN": "研究 " + id},
			Profile: profile, Layout: layout, Arms: arms, Rounds: rounds,
			Order: records.RunOrder{Kind: "alternate"}, Origin: "collected",
			PlanSHA256: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
		},
		Bundles: []report.Bundle{{
			Identity: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
			Name:     "bundle", StartedAt: epoch, EndedAt: epoch.Add(10 * time.Minute),
			Lock: "incomplete", LockGaps: []string{"libexample.so.1: not found"},
		}},
		Scope: report.Scope{
			StartedAt: epoch, EndedAt: epoch.Add(10 * time.Minute),
			Hosts: []report.Host{{Facts: []records.HostFact{
				{Name: "kernel.release", Value: &kernel, Source: "uname"},
				{Name: "power.battery", Source: "/sys/class/power_supply", AbsentReason: &absent},
			}}},
			Versions:   map[string][]string{"go": {"go1.26.8"}, "service": {"7.0.15"}},
			Runtime:    map[string][]string{"gogc": {"1000"}, "gomaxprocs": {"2"}},
			RSSSources: []string{"vmhwm_at_done"},
			ClientCPUs: []string{"0"},
			ServerCPUs: []string{"1"},
		},
	}}
}

var metrics = map[string]report.Metric{
	"throughput":     {ID: "throughput", Unit: "per_sec", Better: "higher"},
	"cpu":            {ID: "cpu", Unit: "pct", Better: "neither"},
	"latency_p50":    {ID: "latency_p50", Unit: "ns", Better: "lower"},
	"latency_p99":    {ID: "latency_p99", Unit: "ns", Better: "lower"},
	"peak_rss":       {ID: "peak_rss", Unit: "bytes", Better: "lower"},
	"cpu_efficiency": {ID: "cpu_efficiency", Unit: "per_sec", Better: "higher"},
}

func (v value) metric(id string) *report.Number {
	frac := func(num, den, scale int64) *report.Number {
		if num < 0 || den <= 0 {
			return nil
		}
		r := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(num), big.NewInt(scale)), big.NewInt(den))
		n := report.NewNumber(r)
		return &n
	}
	switch id {
	case "throughput":
		return frac(v.operations, v.elapsed, 1e9)
	case "cpu":
		return frac(v.cpu, v.elapsed, 100)
	case "cpu_efficiency":
		if v.cpu < 0 {
			return nil
		}
		return frac(v.operations, v.cpu, 1e9)
	case "latency_p50":
		return frac(v.p50, 1, 1)
	case "latency_p99":
		return frac(v.p99, 1, 1)
	default:
		return frac(v.rss, 1, 1)
	}
}

func (b *builder) suite(id string, factors []records.RunFactor, panel []string, metricIDs ...string) *report.Suite {
	s := report.Suite{
		ID: id, Title: report.Text{"en": "Suite " + id, "zh-CN": "套件 " + id},
		Profile: b.r.Study.Profile, Workload: "redis_echo", Panel: panel, Factors: factors,
		CPUScope: records.CPUScopeInterval, CPUCovers: "client", LatencyCovers: "request",
		Service: &records.RunService{Name: "redis", Kind: "redis", Mode: "managed", Version: "7.0.15", Address: "127.0.0.1:41234"},
	}
	for _, m := range metricIDs {
		s.Metrics = append(s.Metrics, metrics[m])
	}
	b.r.Suites = append(b.r.Suites, s)
	return &b.r.Suites[len(b.r.Suites)-1]
}

// cell adds a cell whose processes alternate AB, BA over the rounds. A nil arm
// gives a missing arm.
func (b *builder) cell(s *report.Suite, id string, factors []string, a, bb []value) *report.Cell {
	c := report.Cell{ID: id}
	for i, f := range s.Factors {
		c.Factors = append(c.Factors, report.FactorValue{Name: f.Name, Kind: f.Kind, Value: factors[i]})
	}
	for round := 0; round < max(len(a), len(bb)); round++ {
		order := []records.Side{records.SideA, records.SideB}
		if round%2 == 1 {
			order[0], order[1] = order[1], order[0]
		}
		for i, side := range order {
			values := a
			if side == records.SideB {
				values = bb
			}
			if round >= len(values) {
				continue
			}
			c.Processes = append(c.Processes, b.process(s, id, side, round+1, i == 0, values[round]))
		}
	}
	for i, m := range s.Metrics {
		c.Comparisons = append(c.Comparisons, compare(m.ID, i, c.Processes))
	}
	s.Cells = append(s.Cells, c)
	return &s.Cells[len(s.Cells)-1]
}

func (b *builder) process(s *report.Suite, cell string, side records.Side, round int, first bool, v value) report.Process {
	no := b.next
	b.next++
	arm := b.r.Study.Arms[0].Name
	if side == records.SideB {
		arm = b.r.Study.Arms[1].Name
	}
	exit := int32(0)
	operations, elapsed, samples := v.operations, v.elapsed, v.operations
	p := report.Process{
		ProcessNo: no, ProcessID: fmt.Sprintf("%s/%s/%s/r%d", s.ID, cell, arm, round),
		Side: side, Round: int32(round), Slot: no, FirstInPair: first,
		StartedAt: epoch.Add(time.Duration(no) * time.Second), Outcome: records.OutcomeOK, ExitCode: &exit,
		MeasuredOperations: &operations, ElapsedNs: &elapsed, SampleCount: &samples,
		SampleFile:   fmt.Sprintf("data/samples/%d.parquet", no),
		SampleSHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		StdoutSHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		StderrSHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	}
	for _, m := range s.Metrics {
		p.Values = append(p.Values, v.metric(m.ID))
	}
	for i := range report.DistributionPermyriads {
		p.Latency = append(p.Latency, v.p50/2+int64(i)*(v.p99-v.p50/2)/22)
	}
	s.Totals.Processes++
	s.Totals.MeasuredOperations += v.operations
	s.Totals.Samples += v.operations
	if s.Totals.ShortestElapsedNs == nil || elapsed < *s.Totals.ShortestElapsedNs {
		s.Totals.ShortestElapsedNs = &elapsed
	}
	if s.Totals.LongestElapsedNs == nil || elapsed > *s.Totals.LongestElapsedNs {
		s.Totals.LongestElapsedNs = &elapsed
	}
	if elapsed < 1e9 {
		s.Totals.UnderOneSecond++
	}
	return p
}

func compare(id string, metric int, processes []report.Process) report.Comparison {
	arm := func(side records.Side) report.ArmSummary {
		var rats []*big.Rat
		for _, p := range processes {
			if p.Side == side && p.Outcome == records.OutcomeOK && p.Values[metric] != nil {
				rats = append(rats, p.Values[metric].Rat())
			}
		}
		if len(rats) == 0 {
			return report.ArmSummary{}
		}
		sort.Slice(rats, func(i, j int) bool { return rats[i].Cmp(rats[j]) < 0 })
		number := func(r *big.Rat) *report.Number { n := report.NewNumber(r); return &n }
		mid := new(big.Rat).Add(rats[(len(rats)-1)/2], rats[len(rats)/2])
		return report.ArmSummary{
			N: len(rats), Median: number(mid.Mul(mid, big.NewRat(1, 2))),
			Min: number(rats[0]), Max: number(rats[len(rats)-1]),
		}
	}
	c := report.Comparison{Metric: id, A: arm(records.SideA), B: arm(records.SideB)}
	switch {
	case c.A.N == 0 || c.B.N == 0:
		c.ChangeReason, c.OverlapReason = "arm_missing", "arm_missing"
		return c
	case c.A.Median.Sign() == 0:
		c.ChangeReason = "median_a_zero"
	default:
		change := new(big.Rat).Quo(c.B.Median.Rat(), c.A.Median.Rat())
		change.Mul(change.Sub(change, big.NewRat(1, 1)), big.NewRat(100, 1))
		n := report.NewNumber(change)
		c.ChangePct = &n
	}
	if c.A.N == 1 || c.B.N == 1 {
		c.OverlapReason = "one_process"
		return c
	}
	overlap := c.A.Min.Rat().Cmp(c.B.Max.Rat()) <= 0 && c.B.Min.Rat().Cmp(c.A.Max.Rat()) <= 0
	c.Overlap = &overlap
	return c
}

// finish fills summaries, panels and totals from the cells.
func (b *builder) finish() *report.Report {
	for i := range b.r.Suites {
		s := &b.r.Suites[i]
		for m, metric := range s.Metrics {
			s.Summaries = append(s.Summaries, summarise(s, m, metric.ID))
		}
		groups := map[string]int{}
		for ci, c := range s.Cells {
			var factors []report.FactorValue
			key := ""
			for fi, f := range c.Factors {
				for _, name := range s.Panel {
					if s.Factors[fi].Name == name {
						factors = append(factors, f)
						key += f.Value + "\x00"
					}
				}
			}
			g, ok := groups[key]
			if !ok {
				g = len(s.Panels)
				groups[key] = g
				s.Panels = append(s.Panels, report.PanelResult{Factors: factors, MedianChangePct: make([]*report.Number, len(s.Metrics))})
			}
			s.Panels[g].Cells = append(s.Panels[g].Cells, ci)
		}
		for g := range s.Panels {
			for m := range s.Metrics {
				s.Panels[g].MedianChangePct[m] = s.Cells[s.Panels[g].Cells[0]].Comparisons[m].ChangePct
			}
		}
		t := &b.r.Totals
		t.Processes += s.Totals.Processes
		t.Failed += s.Totals.Failed
		t.MeasuredOperations += s.Totals.MeasuredOperations
		t.Samples += s.Totals.Samples
		t.UnderOneSecond += s.Totals.UnderOneSecond
		if t.ShortestElapsedNs == nil || *s.Totals.ShortestElapsedNs < *t.ShortestElapsedNs {
			t.ShortestElapsedNs = s.Totals.ShortestElapsedNs
		}
		if t.LongestElapsedNs == nil || *s.Totals.LongestElapsedNs > *t.LongestElapsedNs {
			t.LongestElapsedNs = s.Totals.LongestElapsedNs
		}
	}
	return b.r
}

func summarise(s *report.Suite, metric int, id string) report.Summary {
	sum := report.Summary{Metric: id}
	disjoint := new(big.Rat)
	for _, c := range s.Cells {
		cmp := c.Comparisons[metric]
		if cmp.ChangePct != nil {
			if sum.LowestPct == nil || cmp.ChangePct.Rat().Cmp(sum.LowestPct.Rat()) < 0 {
				sum.LowestPct, sum.LowestCell = cmp.ChangePct, c.ID
			}
			if sum.HighestPct == nil || cmp.ChangePct.Rat().Cmp(sum.HighestPct.Rat()) > 0 {
				sum.HighestPct, sum.HighestCell = cmp.ChangePct, c.ID
			}
			sum.MedianPct = cmp.ChangePct
		}
		if cmp.Overlap == nil {
			sum.NotComparable++
			continue
		}
		sum.Comparable++
		disjoint.Add(disjoint, big.NewRat(1, 10))
		if *cmp.Overlap {
			sum.Overlapping++
		}
	}
	if sum.Comparable > 0 {
		n := report.NewNumber(disjoint)
		sum.DisjointByChance = &n
	}
	return sum
}
