package plan_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/collect/plan"
	"pairbench/records"
)

// checkPlan holds what is true of the starts and cells of every plan.
func checkPlan(t *testing.T, p *plan.Plan) {
	t.Helper()
	starts := p.Starts()
	if e := p.Estimate(); len(starts) != e.Processes || len(starts)%2 != 0 {
		t.Fatalf("%d starts, the estimate says %d", len(starts), e.Processes)
	}
	seen := make(map[int32]bool)
	type place struct {
		suite, cell int
		round       int32
	}
	pairs := make(map[place]bool)
	for i, s := range starts {
		if int(s.Slot) != i+1 || seen[s.ProcessNo] || s.ProcessNo < 1 || int(s.ProcessNo) > len(starts) {
			t.Fatalf("start %d is %+v", i, s)
		}
		seen[s.ProcessNo] = true
		if i%2 == 0 {
			continue
		}
		first := starts[i-1]
		at := place{s.SuiteNo, s.CellNo, s.Round}
		if (place{first.SuiteNo, first.CellNo, first.Round}) != at || first.Side != s.Side.Other() || !first.FirstInPair || s.FirstInPair {
			t.Fatalf("slots %d and %d are no pair: %+v %+v", i, i+1, first, s)
		}
		if pairs[at] {
			t.Fatalf("the pair %+v occurs twice", at)
		}
		pairs[at] = true
	}
	for _, s := range p.Suites {
		ids := make(map[string]bool)
		for _, c := range s.Cells {
			folded := strings.ToLower(c.CellID)
			if ids[folded] || !safePath.MatchString(c.CellID) || !filepath.IsLocal(c.CellID) || len(c.CellID) > 4096 {
				t.Fatalf("cell id %q", c.CellID)
			}
			ids[folded] = true
		}
	}
}

var safePath = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)

func withOrder(t *testing.T, order string) *plan.Plan {
	t.Helper()
	source := strings.Replace(edit(t, "[1, 2]", "[1, 2, 3, 4, 5]"), "rounds: 2", "rounds: 3\norder: "+order, 1)
	p, err := plan.Parse([]byte(source), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checkPlan(t, p)
	return p
}

func shape(p *plan.Plan) string {
	var b strings.Builder
	for _, s := range p.Starts() {
		fmt.Fprintf(&b, "%d%s%d ", s.CellNo, s.Side, s.Round)
	}
	return b.String()
}

func TestOrders(t *testing.T) {
	if got, want := shape(withOrder(t, "alternate"))[:40], "0A1 0B1 1B1 1A1 2A1 2B1 3B1 3A1 4A1 4B1 "; got != want {
		t.Errorf("alternate starts %s, want %s", got, want)
	}
	if got, want := shape(withOrder(t, "sequential"))[:40], "0A1 0B1 0A2 0B2 0A3 0B3 1A1 1B1 1A2 1B2 "; got != want {
		t.Errorf("sequential starts %s, want %s", got, want)
	}
	// The order of a seed must not change between versions: bundles record the
	// seed and nothing else.
	if got, want := shape(withOrder(t, "{kind: shuffle, seed: 7}")), shuffleOfSeven; got != want {
		t.Errorf("shuffle with seed 7 is\n%q, want\n%q", got, want)
	}
	if shape(withOrder(t, "{kind: shuffle, seed: 7}")) == shape(withOrder(t, "{kind: shuffle, seed: 8}")) {
		t.Error("two seeds give one order")
	}
	if p := withOrder(t, "shuffle"); p.Order.Seed == nil {
		t.Error("a shuffle without a seed records none")
	}
}

const shuffleOfSeven = "4B1 4A1 2B1 2A1 1A2 1B2 3A3 3B3 3A1 3B1 1B1 1A1 0A1 0B1 0A3 0B3 3B2 3A2 1B3 1A3 " +
	"4B3 4A3 2A2 2B2 0B2 0A2 2B3 2A3 4A2 4B2 "

func TestStartingSideIsBalanced(t *testing.T) {
	for _, order := range []string{"alternate", "{kind: shuffle, seed: 3}"} {
		first := make(map[int]int)
		p := withOrder(t, order)
		for _, s := range p.Starts() {
			if s.FirstInPair && s.Side == records.SideA {
				first[s.CellNo]++
			}
		}
		for cell := range p.Suites[0].Cells {
			if n := first[cell]; n != 1 && n != 2 {
				t.Errorf("%s: A starts %d of 3 rounds of cell %d", order, n, cell)
			}
		}
	}
}

func TestCellIDsOfHostileValues(t *testing.T) {
	long := strings.Repeat("x", 199)
	values := []string{"a/b", "../x", "CON", "con", "CON.txt", long + "1", long + "2", "消息体", "消息", "", ".", "..", "-", " ", "a b", "a_b", "A_B", "a\tb", "$(x)", "%41", "x-0123456789", "NUL", "*", `\`, "~", "aux"}
	var list strings.Builder
	for i, v := range values {
		if i > 0 {
			list.WriteString(", ")
		}
		fmt.Fprintf(&list, "%q", v)
	}
	for _, template := range []string{"", "    cell_id: \"v/{size}\"\n", "    cell_id: \"{size}\"\n"} {
		source := strings.Replace(edit(t, "[1, 2]", "["+list.String()+"]"), "    warmup", template+"    warmup", 1)
		p, err := plan.Parse([]byte(source), "p.yaml")
		if err != nil {
			t.Fatal(err)
		}
		checkPlan(t, p)
		for i, c := range p.Suites[0].Cells {
			if v, _ := c.Factor("size"); v.Str != values[i] {
				t.Errorf("cell %s holds %q, want %q", c.CellID, v.Str, values[i])
			}
			for _, segment := range strings.Split(c.CellID, "/") {
				if strings.EqualFold(segment, "con") || strings.EqualFold(segment, "nul") || strings.HasPrefix(strings.ToLower(segment), "con.") {
					t.Errorf("cell id %s has a reserved name", c.CellID)
				}
			}
		}
	}
}

func TestSelect(t *testing.T) {
	p := builtin(t, "database")
	count := func(sel plan.Selection) [3]int {
		t.Helper()
		s, err := p.Select(sel)
		if err != nil {
			t.Fatal(err)
		}
		checkPlan(t, s)
		e := s.Estimate()
		return [3]int{e.Suites, e.Cells, e.Processes}
	}
	for name, tt := range map[string]struct {
		sel  plan.Selection
		want [3]int
	}{
		"nothing":        {plan.Selection{}, [3]int{2, 56, 336}},
		"suite":          {plan.Selection{Suites: []string{"mysql_tls"}}, [3]int{1, 28, 168}},
		"cells":          {plan.Selection{Cells: "64B/*/1c*o"}, [3]int{2, 16, 96}},
		"one cell":       {plan.Selection{Cells: "4096B/1ms/4c64o"}, [3]int{2, 2, 12}},
		"rounds":         {plan.Selection{Rounds: 1}, [3]int{2, 56, 112}},
		"more rounds":    {plan.Selection{Rounds: 12, Suites: []string{"redis_tcp"}, Cells: "*1c1o"}, [3]int{1, 4, 96}},
		"shard":          {plan.Selection{Shard: &records.RunShard{Index: 3, Count: 5}}, [3]int{2, 11, 66}},
		"service":        {plan.Selection{Services: map[string]string{"redis": "embedded", "mysql": "127.0.0.1:3306"}}, [3]int{2, 56, 336}},
		"small is whole": {plan.Selection{Scale: 1e-9}, [3]int{2, 56, 336}},
	} {
		if got := count(tt.sel); got != tt.want {
			t.Errorf("%s: %v suites, cells, processes; want %v", name, got, tt.want)
		}
	}
	for name, tt := range map[string]struct {
		sel  plan.Selection
		want string
	}{
		"suite":        {plan.Selection{Suites: []string{"redis"}}, `select --suite: found "redis", expected one of redis_tcp, mysql_tls`},
		"cells":        {plan.Selection{Cells: "nope"}, `select --cells: found "nope", expected a pattern that matches a cell id such as 64B/continuous/1c1o`},
		"scale":        {plan.Selection{Scale: -1}, "select --scale: found -1, expected a number above 0"},
		"service":      {plan.Selection{Services: map[string]string{"redys": "managed"}}, `select --service: found "redys", expected one of redis, mysql`},
		"service mode": {plan.Selection{Services: map[string]string{"mysql": "embedded"}}, "select --service: found mysql=embedded, expected one of managed, external for mysql"},
		"address":      {plan.Selection{Services: map[string]string{"mysql": "u:p@h:1"}}, "expected managed, embedded or host:port"},
		"shard":        {plan.Selection{Shard: &records.RunShard{Index: 6, Count: 5}}, "select --shard: found 6/5, expected i/N with i from 1 to N"},
		"shards":       {plan.Selection{Shard: &records.RunShard{Index: 60, Count: 60}}, "select --shard: found 60/60, expected at most as many shards as cells, 56"},
		"rounds":       {plan.Selection{Rounds: -1}, "select --rounds: found -1, expected a number from 1 to 1000"},
		"seed":         {plan.Selection{Seed: new(int64)}, "select --seed: found the order alternate, expected a plan with the order shuffle"},
	} {
		_, err := p.Select(tt.sel)
		var fault *plan.SelectionError
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

func TestShardsTakeEveryCellOnce(t *testing.T) {
	p := builtin(t, "database")
	seen := make(map[string]int)
	for i := 1; i <= 3; i++ {
		s, err := p.Select(plan.Selection{Shard: &records.RunShard{Index: i, Count: 3}})
		if err != nil {
			t.Fatal(err)
		}
		for _, suite := range s.Suites {
			for _, c := range suite.Cells {
				seen[suite.ID+" "+c.CellID]++
			}
		}
	}
	if len(seen) != 56 {
		t.Errorf("%d cells", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is in %d shards", id, n)
		}
	}
}

func TestScaleKeepsBatchesWhole(t *testing.T) {
	source := edit(t, "    warmup: {operations: 1}\n    measure: {operations: 10}", "    operations_per_sample: 16\n    warmup: {duration: 250ms}\n    measure: {operations: 160}")
	p, err := plan.Parse([]byte(source), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Select(plan.Selection{Scale: 0.33})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Suites[0].Cells[0]
	if c.Measure.Operations != 48 || *c.PlannedOperations != 48 || c.Warmup.Duration.Microseconds() != 82500 || *c.PlannedWarmupDurationNs != 82_500_000 {
		t.Errorf("scaled to %+v", c)
	}
	if *p.Suites[0].Cells[0].PlannedOperations != 160 {
		t.Error("select changed the plan it was given")
	}
}

func TestCountsOfTheDatabasePlan(t *testing.T) {
	// The published counts: cadence, connections, outstanding, measured, warm-up.
	want := map[string][2]int64{
		"continuous/1c1o": {10000, 1000}, "continuous/1c4o": {10000, 1000}, "continuous/1c16o": {10000, 1000}, "continuous/1c64o": {10000, 1000},
		"continuous/4c4o": {40000, 4000}, "continuous/4c16o": {40000, 4000}, "continuous/4c64o": {40000, 4000},
		"1ms/1c1o": {1024, 1000}, "1ms/1c4o": {4096, 1000}, "1ms/1c16o": {4096, 1000}, "1ms/1c64o": {4096, 1000},
		"1ms/4c4o": {4096, 4000}, "1ms/4c16o": {16384, 4000}, "1ms/4c64o": {16384, 4000},
	}
	for _, s := range builtin(t, "database").Suites {
		got := make(map[string][2]int64)
		for _, c := range s.Cells {
			_, id, _ := strings.Cut(c.CellID, "/")
			got[id] = [2]int64{*c.PlannedOperations, *c.PlannedWarmupOperations}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.ID, diff)
		}
	}
}

func TestShapesOfTheBuiltinPlans(t *testing.T) {
	want := map[string][3]int{"quick": {1, 4, 24}, "database": {2, 56, 336}, "native": {3, 24, 144}, "release": {5, 8, 80}}
	for _, name := range plan.BuiltinNames() {
		p := builtin(t, name)
		checkPlan(t, p)
		e := p.Estimate()
		if got := [3]int{e.Suites, e.Cells, e.Processes}; got != want[name] {
			t.Errorf("%s has %v suites, cells, processes; want %v", name, got, want[name])
		}
		for _, arm := range p.Arms {
			if arm.Label["en"] == "" || arm.Label["zh-CN"] == "" {
				t.Errorf("%s: arm %s lacks a label", name, arm.Name)
			}
		}
	}
	if e := builtin(t, "quick").Estimate(); e.Wall.Seconds() > 60 {
		t.Errorf("quick is estimated at %v", e.Wall)
	}
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, id string
		want        bool
	}{
		{"*", "a/b", true}, {"a*", "a/b", true}, {"*b", "a/b", true}, {"a?b", "a/b", true}, {"", "", true},
		{"a", "a/b", false}, {"*c", "a/b", false}, {"", "a", false}, {"a*b*c", "axxbyyc", true}, {"a*b*c", "axxbyy", false}, {"?", "", false},
	} {
		if got := plan.Match(tt.pattern, tt.id); got != tt.want {
			t.Errorf("Match(%q, %q) is %v", tt.pattern, tt.id, got)
		}
	}
}

func TestExpand(t *testing.T) {
	got, err := plan.Expand("--x={a} {{b}} {env.C}", func(name string) (string, bool) { return "<" + name + " {z}>", true })
	if want := "--x=<a {z}> {b} <env.C {z}>"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
