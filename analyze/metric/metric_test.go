package metric

import (
	"testing"

	"pairbench/records"
)

func at(v int64) *int64 { return &v }

func TestValues(t *testing.T) {
	process, interval := records.CPUScopeProcess, records.CPUScopeInterval
	full := records.Process{
		MeasuredOperations: at(10000), ElapsedNs: at(889149706),
		CPUNs: at(1214845243), CPUWallNs: at(889149706), CPUScope: &interval,
		PeakRSSBytes: at(5881856), StatedLatencyP50Ns: at(89000), StatedLatencyP99Ns: at(109916),
	}
	zeroCPU := full
	zeroCPU.CPUNs = at(0)
	noWall := full
	noWall.CPUWallNs = nil
	wholeProcess := noWall
	wholeProcess.CPUScope, wholeProcess.ProcessWallNs = &process, at(2429690486)
	wholeNoWall := noWall
	wholeNoWall.CPUScope = &process
	for _, c := range []struct {
		name, id string
		record   records.Process
		want     string // "" is absent
	}{
		{"operations over the interval", Throughput, full, "5000000000000/444574853"},
		{"no operations at all", Throughput, records.Process{MeasuredOperations: at(0), ElapsedNs: at(7)}, "0"},
		{"an interval of nothing", Throughput, records.Process{MeasuredOperations: at(5), ElapsedNs: at(0)}, ""},
		{"an absent interval", Throughput, records.Process{MeasuredOperations: at(5)}, ""},
		{"CPU over its own wall time", CPU, full, "60742262150/444574853"},
		{"CPU without wall time is over the interval", CPU, noWall, "60742262150/444574853"},
		{"CPU of the process is over the process", CPU, wholeProcess, "50"},
		{"CPU of the process without its wall time", CPU, wholeNoWall, ""},
		{"operations a second and core", CPUEfficiency, full, "10000000000000/1214845243"},
		{"efficiency without CPU time", CPUEfficiency, zeroCPU, ""},
		{"a run of a program", RunTime, records.Process{MeasuredOperations: at(1), ElapsedNs: at(12345)}, "12345"},
		{"many operations have no run time", RunTime, full, ""},
		{"operations nobody counted have none", RunTime, records.Process{ElapsedNs: at(12345)}, ""},
		{"stated P50", LatencyP50, full, "89000"},
		{"stated P99", LatencyP99, full, "109916"},
		{"nobody states a P99.9", LatencyP999, full, ""},
		{"peak RSS", PeakRSS, full, "5881856"},
		{"peak RSS nobody measured", PeakRSS, records.Process{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, ok := ByID(c.id)
			if !ok {
				t.Fatalf("no metric %s", c.id)
			}
			got := ""
			if v := m.Value(Process{&c.record, Stated(&c.record)}); v != nil {
				got = v.RatString()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestEveryDefaultExistsOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All() {
		if seen[m.ID] {
			t.Errorf("%s is there twice", m.ID)
		}
		seen[m.ID] = true
	}
	for _, profile := range []string{"database", "native", "release"} {
		for _, id := range Default(profile) {
			if !seen[id] {
				t.Errorf("profile %s shows the unknown metric %s", profile, id)
			}
		}
	}
}
