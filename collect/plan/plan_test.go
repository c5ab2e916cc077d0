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
