package plan_test

import (
	"testing"

	"pairbench/collect/plan"
	"pairbench/records"
)

func builtin(t *testing.T, name string) *plan.Plan {
	t.Helper()
	source, ok := plan.Builtin(name)
	if !ok {
		t.Fatalf("no built-in plan %s", name)
	}
	p, err := plan.Parse(source, name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDatabaseIsThePublishedStudy(t *testing.T) {
	p := builtin(t, "database")
	e := p.Estimate()
	if e.Cells != 56 || e.Processes != 336 || e.Operations != 5_044_224 || e.WarmupOperations != 768_000 {
		t.Errorf("database: %+v", e)
	}
	redis, err := p.Select(plan.Selection{Suites: []string{"redis_tcp"}})
	if err != nil {
		t.Fatal(err)
	}
	if e := redis.Estimate(); e.Processes != 168 || e.Operations != 2_522_112 {
		t.Errorf("redis_tcp: %+v", e)
	}
	if got := redis.Suites[0].Cells[0].CellID; got != "64B/continuous/1c1o" {
		t.Errorf("first cell is %s", got)
	}
}

func TestStartsAlternate(t *testing.T) {
	p := builtin(t, "quick")
	starts := p.Starts()
	for i := 0; i < len(starts); i += 2 {
		a, b := starts[i], starts[i+1]
		if a.CellNo != b.CellNo || a.Round != b.Round || a.Side != b.Side.Other() || !a.FirstInPair || b.FirstInPair {
			t.Fatalf("slots %d and %d are no pair: %+v %+v", a.Slot, b.Slot, a, b)
		}
		want := records.Sides[(a.CellNo+int(a.Round)-1)%2]
		if a.Side != want {
			t.Errorf("cell %d round %d starts with %s, want %s", a.CellNo, a.Round, a.Side, want)
		}
	}
}

// Descriptors follow the connections, both ends of them where no service is
// named; memory follows samples and services that are started.
func TestEstimateOfDescriptorsAndMemory(t *testing.T) {
	for suite, want := range map[string]struct{ files, mib int64 }{
		"service: {name: r, kind: redis, mode: managed}, workload: redis_echo, measure: {operations: 1048576}":                          {100 + 64, 2*(64+24) + 32},
		"service: {name: r, kind: redis, mode: external, address: '127.0.0.1:1'}, workload: redis_echo, measure: {operations: 1048576}": {100 + 64, 2 * (64 + 24)},
		"workload: tcp_echo, measure: {operations: 1048576}":                                                                            {200 + 64, 2 * (64 + 24)},
		"workload: command, program: {command: ['true'], read: {}}, measure: {operations: 1}":                                           {0, 2 * 64},
	} {
		p, err := plan.Parse([]byte("plan: 1\nstudy: s\narms: [{name: callback}, {name: goroutine}]\nrounds: 3\nsuites:\n  - {id: s, factors: {connections: [1, 100]}, "+suite+"}\n"), "plan.yaml")
		if err != nil {
			t.Errorf("%s: %v", suite, err)
			continue
		}
		if e := p.Estimate(); e.OpenFiles != want.files || e.MemoryBytes>>20 != want.mib {
			t.Errorf("%s: %d descriptors and %d MiB, expected %d and %d", suite, e.OpenFiles, e.MemoryBytes>>20, want.files, want.mib)
		}
	}
}
