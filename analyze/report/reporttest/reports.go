package reporttest

import (
	"pairbench/analyze/report"
	"pairbench/records"
)

// Database is a paired report of two suites in the database profile: eight
// cells with the published shape of factors, one failed process, one cell
// without arm B and one with a single process an arm.
func Database() *report.Report {
	b := newReport("database", "database", "paired", [2]report.Arm{
		{Side: records.SideA, Name: "callback", Label: report.Text{"en": "Callback", "zh-CN": "回调"}},
		{Side: records.SideB, Name: "coroutine", Label: report.Text{"en": "Coroutine", "zh-CN": "协程"}},
	}, 3)
	factors := []records.RunFactor{
		{Name: "payload_bytes", Kind: records.FactorInt, Unit: "bytes", Label: report.Text{"en": "Payload", "zh-CN": "消息体"}},
		{Name: "cadence", Kind: records.FactorString, Label: report.Text{"en": "Cadence", "zh-CN": "更新间隔"},
			ValueLabels: map[string]map[string]string{"continuous": {"en": "Continuous", "zh-CN": "连续"}, "1ms": {"en": "1 ms", "zh-CN": "1 ms"}}},
		{Name: "connections", Kind: records.FactorInt, Label: report.Text{"en": "Connections", "zh-CN": "连接"}},
		{Name: "outstanding", Kind: records.FactorInt, Label: report.Text{"en": "Outstanding", "zh-CN": "在途"}},
	}
	metricIDs := []string{"throughput", "cpu", "latency_p50", "latency_p99", "peak_rss"}
	panel := []string{"payload_bytes", "cadence"}
	for _, id := range []string{"redis_tcp", "mysql_tls"} {
		b.suite(id, factors, panel, metricIDs...)
	}
	redis := &b.r.Suites[0]
	b.cell(redis, "64B/continuous/1c1o", []string{"64", "continuous", "1", "1"},
		[]value{
			{10000, 889149706, 1214845243, 89000, 109916, 5881856},
			{10000, 886336241, 1211533008, 88000, 101175, 5865472},
			{10000, 898006000, 1240101000, 89500, 112000, 5873664},
		}, []value{
			{10000, 873173000, 1200101000, 87000, 105000, 6008832},
			{10000, 873254000, 1201101000, 87500, 104000, 6021120},
			{10000, 869943000, 1199101000, 86900, 103999, 6012928},
		})
	b.cell(redis, "64B/continuous/1c4o", []string{"64", "continuous", "1", "4"},
		[]value{{10000, 500000000, 600000000, 180000, 220000, 5881856}, {10000, 510000000, 610000000, 181000, 230000, 5881856}, {10000, 490000000, 590000000, 182000, 240000, 5881856}},
		[]value{{10000, 500000001, 600000000, 180000, 220000, 5881856}, {10000, 505000000, 612000000, 183000, 231000, 5881856}, {10000, 495000000, 594000000, 182000, 250000, 5881856}})
	ms := b.cell(redis, "4KiB/1ms/4c16o", []string{"4096", "1ms", "4", "16"},
		[]value{{40000, 2500000000, 500000000, 1001000, 1010000, 7340032}, {40000, 2510000000, 510000000, 1002000, 1020000, 7340032}, {40000, 2520000000, 520000000, 1003000, 1030000, 7340032}},
		[]value{{40000, 2600000000, 500000000, 1001000, 1010000, 7340032}, {40000, 2610000000, 510000000, 1002000, 1020000, 7340032}})
	ms.Notes = []report.Note{{Code: report.NoteMissedTicks, Values: []string{"12", "2"}}, {Code: report.NoteFewTailSamples, Metric: "latency_p99", Values: []string{"99", "1"}}}
	fail(b.r, redis, ms, records.OutcomeTimeout, "step end: no message within 30s "+Hostile)

	mysql := &b.r.Suites[1]
	b.cell(mysql, "64B/continuous/1c1o", []string{"64", "continuous", "1", "1"},
		[]value{{10000, 3046000000, 1500000000, 300000, 410000, 9437184}, {10000, 3010000000, 1510000000, 301000, 420000, 9437184}, {10000, 3000000000, 1490000000, 299000, 430000, 9437184}},
		[]value{{10000, 3020000000, 1500000000, 300000, 410000, 9437184}, {10000, 3030000000, 1510000000, 302000, 440000, 9437184}, {10000, 3040000000, 1490000000, 299000, 430000, 9437184}})
	b.cell(mysql, "64B/continuous/1c4o", []string{"64", "continuous", "1", "4"},
		[]value{{10000, 1500000000, 0, 300000, 410000, 9437184}, {10000, 1510000000, 0, 301000, 420000, 9437184}, {10000, 1490000000, 0, 299000, 430000, 9437184}}, nil)
	b.cell(mysql, "4KiB/1ms/1c1o", []string{"4096", "1ms", "1", "1"},
		[]value{{1000, 1003000000, -1, 1000000, 1410000, -1}},
		[]value{{1000, 1002900000, -1, 1000000, 1400000, -1}})
	for i := range b.r.Suites {
		s := &b.r.Suites[i]
		ten, one := int64(10000), int64(1000)
		s.Counts = []report.Count{{Factors: []report.FactorValue{{Name: "cadence", Kind: records.FactorString, Value: "continuous"}}, Operations: &ten, WarmupOperations: &one, Cells: 2}}
		s.Notes = []report.Note{
			{Code: report.NoteShortIntervals, Values: []string{"11", "17"}},
			{Code: report.NoteOrderBalance, Values: []string{"5", "9"}},
			{Code: report.NoteDrift, Metric: "throughput", Values: []string{"-0.62", "0.003", "17"}},
		}
	}
	b.r.Notes = []report.Note{
		{Code: report.NoteLockIncomplete, Values: []string{"libexample.so.1: not found"}},
		{Code: report.NoteFailedProcesses, Values: []string{"1"}},
	}
	return b.finish()
}

// fail marks the cell's last process as failed and recomputes the cell.
func fail(r *report.Report, s *report.Suite, c *report.Cell, outcome records.Outcome, detail string) {
	p := &c.Processes[len(c.Processes)-1]
	signal := int32(9)
	p.Outcome, p.Detail, p.ExitCode, p.Signal = outcome, detail, nil, &signal
	p.Stderr, p.StderrBytes = Hostile, int64(len(Hostile))
	for i, m := range s.Metrics {
		c.Comparisons[i] = compare(m.ID, i, c.Processes)
	}
	s.Totals.Failed++
	r.Failures = append(r.Failures, report.Failure{
		Suite: s.ID, CellID: c.ID, ProcessNo: p.ProcessNo, ProcessID: p.ProcessID, Outcome: outcome, Detail: detail,
	})
}

// Compact is a report in the native profile: four cells in two panels, the
// arms joined by an arrow, CPU of client and server together.
func Compact() *report.Report {
	b := newReport("native", "native", "compact", [2]report.Arm{
		{Side: records.SideA, Name: "callback", Label: report.Text{"en": "Callback", "zh-CN": "回调"}},
		{Side: records.SideB, Name: "coroutine", Label: report.Text{"en": "Coroutine", "zh-CN": "协程"}},
	}, 3)
	s := b.suite("native_standalone", []records.RunFactor{
		{Name: "work", Kind: records.FactorInt, Unit: "iterations"},
		{Name: "in_flight", Kind: records.FactorInt},
		{Name: "threads", Kind: records.FactorInt},
		{Name: "connections", Kind: records.FactorInt, Constant: true},
		{Name: "payload_bytes", Kind: records.FactorInt, Unit: "bytes", Constant: true},
	}, []string{"work"}, "throughput", "cpu", "latency_p50", "latency_p99", "peak_rss")
	s.CPUScope, s.CPUCovers, s.LatencyCovers, s.Service = records.CPUScopeProcess, "client_and_server", "message", nil
	for i, work := range []string{"0", "10000"} {
		for j, inFlight := range []string{"1", "16"} {
			k := int64(1 + i*3 + j)
			arm := func(d int64) []value {
				return []value{
					{250000*k + d, 1000000000, 999000000, 12345 * k, 45678*k + d, 4194304},
					{251000*k + d, 1000100000, 1000000000, 12340 * k, 45778*k + d, 4198400},
					{249000*k - d, 1000200000, 998000000, 12355 * k, 45878*k - d, 4194304},
				}
			}
			b.cell(s, "work="+work+" in_flight="+inFlight, []string{work, inFlight, "4", "16", "1024"}, arm(0), arm(-2000))
		}
	}
	return b.finish()
}

// Release is a report in the release profile whose every name is hostile:
// study, arms, suite, cell, factor and its value.
func Release() *report.Report {
	rev := "0123456789abcdef"
	b := newReport(Hostile, "release", "release", [2]report.Arm{
		{Side: records.SideA, Name: "baseline", Label: report.Text{"en": Hostile}, Revision: &rev},
		{Side: records.SideB, Name: Hostile, Revision: &rev},
	}, 5)
	s := b.suite("release_tcp", []records.RunFactor{{Name: "payload " + Hostile, Kind: records.FactorString}}, nil,
		"throughput", "cpu", "latency_p50", "latency_p99", "cpu_efficiency")
	s.LatencyCovers = "batch"
	arm := func(d int64) []value {
		var vs []value
		for i := int64(0); i < 5; i++ {
			vs = append(vs, value{477596 + i*1000 + d, 5000000000, 4828500000 - i*100000, 665458 - d, 716833 + i, -1})
		}
		return vs
	}
	b.cell(s, Hostile, []string{Hostile}, arm(0), arm(-9000))
	b.cell(s, "64 B", []string{"64 B"}, arm(0), arm(7))
	s.PlanNotes = []report.Text{{"en": Hostile}}
	return b.finish()
}
