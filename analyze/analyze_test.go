package analyze

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/records"
)

// sampledInput is a bundle with raw samples: two suites of two cells, n rounds,
// the second process of a pair always the other side's.
func sampledInput(identity string, n int, seed uint64) *input {
	factors := []records.RunFactor{{Name: "outstanding", Kind: records.FactorInt}}
	in := newInput(identity, [2]string{"callback", "coroutine"},
		records.RunSuite{ID: "one", Factors: factors}, records.RunSuite{ID: "two", Factors: factors})
	random := rand.New(rand.NewPCG(seed, 2))
	samples := map[int32]records.Samples{}
	for _, suite := range []string{"one", "two"} {
		for _, outstanding := range []int64{1, 4} {
			c := records.Cell{
				CellID: fmt.Sprint("o", outstanding), Suite: suite, OperationsPerSample: 1,
				Factors: []records.Factor{{Name: "outstanding", Value: records.IntFactor(outstanding)}},
			}
			in.cells = append(in.cells, c)
			for round := 1; round <= n; round++ {
				order := slices.Clone(records.Sides[:])
				if round%2 == 0 {
					slices.Reverse(order)
				}
				for k, side := range order {
					s := closedLoop(random, 2000, outstanding)
					last := s.Len() - 1
					elapsed := s.StartNs[last] + s.LatencyNs[last]
					p := in.addProcess(c, side, int32(round), records.Process{
						MeasuredOperations: ptr(int64(s.Len())), SampleCount: ptr(int64(s.Len())), ElapsedNs: &elapsed,
						CPUNs: ptr(elapsed / 2), CPUWallNs: &elapsed, PeakRSSBytes: ptr(int64(5<<20 + round)),
						FirstInPair: k == 0, ClientCPUs: ptr("0"),
					})
					samples[p.ProcessNo] = s
				}
			}
		}
	}
	in.withSamples(samples)
	return in
}

// closedLoop keeps so many requests in flight.
func closedLoop(random *rand.Rand, n int, outstanding int64) records.Samples {
	var s records.Samples
	at := make([]int64, outstanding)
	for range n {
		next := slices.Index(at, slices.Min(at))
		latency := 50_000 + random.Int64N(50_000)
		s.StartNs, s.LatencyNs = append(s.StartNs, at[next]), append(s.LatencyNs, latency)
		at[next] += latency
	}
	return s
}

func encoded(t *testing.T, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func codes(notes []report.Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, strings.Join(strings.Fields(n.Code+" "+n.Metric+" "+strings.Join(n.Values, ",")), " "))
	}
	return out
}

func TestPercentilesComeFromTheProcessesOwnSamples(t *testing.T) {
	in := sampledInput("1", 3, 1)
	r := analyse(t, Options{}, in)
	for _, p := range r.Suites[1].Cells[1].Processes {
		in.readSamples(p.ProcessNo, func(s sampleReader) error {
			return s.EachLatency(func(values []int64) error {
				sorted := slices.Sorted(slices.Values(values))
				for i, permyriad := range report.DistributionPermyriads {
					k := stat.Permyriad(permyriad).Rank(int64(len(sorted)))
					if p.Latency[i] != sorted[k-1] {
						t.Errorf("process %d at %d: got %d, want %d", p.ProcessNo, permyriad, p.Latency[i], sorted[k-1])
					}
				}
				return nil
			})
		})
		if p.SampleFile == "" || p.SampleSHA256 == "" {
			t.Errorf("process %d does not lead to its samples", p.ProcessNo)
		}
	}
	if notes := codes(r.Suites[0].Notes); !slices.ContainsFunc(notes, func(s string) bool { return strings.HasPrefix(s, "few_tail_samples latency_p99 20,12") }) {
		t.Errorf("notes are %q: P99 of 2,000 samples rests on 20", notes)
	}
}

func TestAnalysisDoesNotDependOnOrderOrWorkers(t *testing.T) {
	want := encoded(t, analyse(t, Options{Workers: 1, Inference: true}, sampledInput("1", 10, 1)))
	for _, workers := range []int{1, 2, 5} {
		in := sampledInput("1", 10, 1)
		rand.New(rand.NewPCG(uint64(workers), 0)).Shuffle(len(in.processes), func(i, j int) {
			in.processes[i], in.processes[j] = in.processes[j], in.processes[i]
		})
		if got := encoded(t, analyse(t, Options{Workers: workers, Inference: true}, in)); got != want {
			t.Errorf("%d workers over shuffled processes gave another report:\n%s", workers, cmp.Diff(want, got))
		}
	}
}

func TestSwappingArmsInvertsRatiosAndKeepsOverlap(t *testing.T) {
	forward := databaseInput(t)
	backward := databaseInput(t)
	backward.run.Arms[0].Name, backward.run.Arms[1].Name = backward.run.Arms[1].Name, backward.run.Arms[0].Name
	for i := range backward.processes {
		backward.processes[i].Side = backward.processes[i].Side.Other()
	}
	a, b := analyse(t, Options{}, forward), analyse(t, Options{}, backward)
	for i := range a.Suites {
		for c := range a.Suites[i].Cells {
			for m, x := range a.Suites[i].Cells[c].Comparisons {
				y := b.Suites[i].Cells[c].Comparisons[m]
				back, _ := stat.ChangePct(x.B.Median.Rat(), x.A.Median.Rat())
				if *x.Overlap != *y.Overlap || back.Cmp(y.ChangePct.Rat()) != 0 {
					t.Errorf("%s %s: change %s, swapped %s", a.Suites[i].Cells[c].ID, x.Metric, x.ChangePct.Rat(), y.ChangePct.Rat())
				}
			}
		}
	}
}

func TestLongerLatenciesScalePercentilesAndKeepChanges(t *testing.T) {
	plain, scaled := databaseInput(t), databaseInput(t)
	for i := range scaled.processes {
		p := &scaled.processes[i]
		p.StatedLatencyP50Ns, p.StatedLatencyP99Ns = ptr(*p.StatedLatencyP50Ns*7), ptr(*p.StatedLatencyP99Ns*7)
	}
	a, b := analyse(t, Options{}, plain), analyse(t, Options{}, scaled)
	for i := range a.Suites {
		for m, s := range a.Suites[i].Summaries {
			if other := b.Suites[i].Summaries[m]; s.LowestPct.Rat().Cmp(other.LowestPct.Rat()) != 0 || s.Overlapping != other.Overlapping {
				t.Errorf("%s: lowest change %s, scaled %s", s.Metric, s.LowestPct.Rat(), other.LowestPct.Rat())
			}
		}
	}
}

func TestFailedProcessesAreNamedAndInNoMedian(t *testing.T) {
	in := databaseInput(t)
	p := &in.processes[0]
	p.Outcome, p.OutcomeDetail, p.ElapsedNs = records.OutcomeTimeout, ptr("step end: no message within 30s"), ptr(int64(1))
	p.Errors = ptr(int64(5))
	r := analyse(t, Options{}, in)
	want := []report.Failure{{
		Suite: p.Suite, CellID: p.CellID, ProcessNo: p.ProcessNo, ProcessID: p.ProcessID,
		Outcome: records.OutcomeTimeout, Detail: "step end: no message within 30s",
	}}
	if diff := cmp.Diff(want, r.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	c := comparison(t, r, p.Suite, p.CellID, "throughput")
	if c.A.N != 2 || c.B.N != 3 || c.A.Max.Float() > 1e6 {
		t.Errorf("arm A has n = %d and reaches %v with a failed process", c.A.N, c.A.Max.Float())
	}
	if r.Totals.Failed != 1 || r.Totals.Processes != 336 || r.Totals.Errors != 5 || r.Totals.MeasuredOperations != 5_044_224-10_000 {
		t.Errorf("totals are %+v", r.Totals)
	}
	// The probability of disjoint ranges follows the numbers of processes:
	// 27 cells of 3 and 3, one of 2 and 3.
	if got := printed(r.Suites[0].Summaries[0].DisjointByChance, 1, 1); got != "2.9" {
		t.Errorf("%s disjoint by chance, want 2.9", got)
	}
}

func TestWhatIsNotComputableIsNamed(t *testing.T) {
	suite := records.RunSuite{ID: "s", Factors: []records.RunFactor{}}
	in := newInput("1", [2]string{"a", "b"}, suite)
	for _, id := range []string{"no B", "one each", "zero A"} {
		in.cells = append(in.cells, records.Cell{CellID: id, Suite: "s"})
	}
	rate := func(v int64) records.Process {
		return records.Process{MeasuredOperations: ptr(v), ElapsedNs: ptr(int64(1e9))}
	}
	in.addProcess(in.cells[0], records.SideA, 1, rate(5))
	in.addProcess(in.cells[0], records.SideA, 2, rate(6))
	in.addProcess(in.cells[1], records.SideA, 1, rate(5))
	in.addProcess(in.cells[1], records.SideB, 1, rate(10))
	for round := int32(1); round <= 2; round++ {
		in.addProcess(in.cells[2], records.SideA, round, rate(0))
		in.addProcess(in.cells[2], records.SideB, round, rate(7))
	}
	r := analyse(t, Options{Inference: true}, in)
	got := map[string]string{}
	for _, c := range r.Suites[0].Cells {
		x := c.Comparisons[0]
		change := "none"
		if x.ChangePct != nil {
			change = x.ChangePct.Rat().RatString()
		}
		overlap := "none"
		if x.Overlap != nil {
			overlap = fmt.Sprint(*x.Overlap)
		}
		got[c.ID] = strings.Join([]string{change, x.ChangeReason, overlap, x.OverlapReason}, " ")
	}
	want := map[string]string{
		"no B":     "none arm_missing none arm_missing",
		"one each": "100  none one_process",
		"zero A":   "none median_a_zero false ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s := r.Suites[0].Summaries[0]
	if s.Comparable != 1 || s.NotComparable != 2 || s.LowestCell != "one each" || s.HighestCell != "one each" {
		t.Errorf("summary is %+v", s)
	}
	if len(r.Suites[0].Metrics) != 1 {
		t.Errorf("metrics without values are shown: %v", r.Suites[0].Metrics)
	}
}

func TestInferenceIsGatedByN(t *testing.T) {
	methods := func(n int) map[string]report.Inference {
		r := analyse(t, Options{Inference: true}, sampledInput("1", n, 3))
		out := map[string]report.Inference{}
		for _, i := range comparison(t, r, "one", "o4", "latency_p99").Inference {
			out[i.Method] = i
		}
		return out
	}
	needs := map[string]int{
		"range_ratio": 3, "mann_whitney": 4, "hodges_lehmann": 5, "signed_rank": 6,
		"median_rank_interval": 6, "paired_t_log": 6, "bootstrap_two_level": 10,
	}
	for _, n := range []int{2, 3, 4, 5, 6, 9, 10} {
		found := methods(n)
		for method, need := range needs {
			got := found[method]
			switch {
			case n < need && (got.NeedN != need || got.EstimatePct != nil || got.P != nil):
				t.Errorf("n = %d %s: got %+v, want only need_n %d", n, method, got, need)
			case n >= need && (got.NeedN != 0 || got.Reason != "" || (got.LowPct == nil && got.P == nil)):
				t.Errorf("n = %d %s: got %+v, want a result", n, method, got)
			case n >= need && got.LowPct != nil && (*got.LowPct > *got.EstimatePct || *got.HighPct < *got.EstimatePct || *got.Level < 0.9):
				t.Errorf("n = %d %s: %v is outside %v to %v", n, method, *got.EstimatePct, *got.LowPct, *got.HighPct)
			}
		}
	}
	if r := analyse(t, Options{}, sampledInput("1", 10, 3)); comparison(t, r, "one", "o4", "latency_p99").Inference != nil {
		t.Error("inference was not asked for")
	}
}

// TestInferenceNeverBreaks runs it over values that have no logarithm, no
// variation or nothing in common.
func TestInferenceNeverBreaks(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b func(round int64) int64
	}{
		{"equal", func(int64) int64 { return 5 }, func(int64) int64 { return 5 }},
		{"zeros", func(int64) int64 { return 0 }, func(int64) int64 { return 0 }},
		{"one zero", func(r int64) int64 { return r - 1 }, func(r int64) int64 { return r }},
		{"far apart", func(r int64) int64 { return r }, func(r int64) int64 { return 1e15 * r }},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newInput("1", [2]string{"a", "b"}, records.RunSuite{ID: "s"})
			in.cells = []records.Cell{{CellID: "c", Suite: "s"}}
			for round := int32(1); round <= 12; round++ {
				in.addProcess(in.cells[0], records.SideA, round, records.Process{PeakRSSBytes: ptr(c.a(int64(round)))})
				in.addProcess(in.cells[0], records.SideB, round, records.Process{PeakRSSBytes: ptr(c.b(int64(round)))})
			}
			encoded(t, analyse(t, Options{Inference: true}, in)) // JSON has no infinity
		})
	}
}

func TestJoinedShardsEqualTheWhole(t *testing.T) {
	whole := databaseInput(t)
	shards := []*input{databaseInput(t), databaseInput(t)}
	whole.run.Origin = "collected"
	for i, shard := range shards {
		shard.run.Origin = "collected"
		shard.name, shard.identity = fmt.Sprint("shard", i), fmt.Sprint("identity", 9-i)
		shard.run.Shard = &records.RunShard{Index: i + 1, Count: 2}
		mine := map[cellKey]bool{}
		for k, c := range shard.cells {
			mine[cellKey{c.Suite, c.CellID}] = k%2 == i
		}
		shard.cells = slices.DeleteFunc(shard.cells, func(c records.Cell) bool { return !mine[cellKey{c.Suite, c.CellID}] })
		shard.processes = slices.DeleteFunc(shard.processes, func(p records.Process) bool { return !mine[cellKey{p.Suite, p.CellID}] })
		for k := range shard.processes {
			shard.processes[k].ProcessNo = int32(k + 1)
		}
	}
	want, got := analyse(t, Options{}, whole), analyse(t, Options{}, shards...)
	if diff := cmp.Diff(tables(want), tables(got)); diff != "" {
		t.Errorf("(-whole +joined):\n%s", diff)
	}
	if len(got.Bundles) != 2 || got.Bundles[0].Identity != "identity8" {
		t.Errorf("bundles are %+v", got.Bundles)
	}
}

// tables is what a reader is shown of the numbers, without the processes.
func tables(r *report.Report) string {
	var b strings.Builder
	for _, s := range r.Suites {
		for i := range s.Cells {
			s.Cells[i].Processes = nil
		}
		fmt.Fprintln(&b, encodeAny(s.Cells), encodeAny(s.Summaries), encodeAny(s.Panels), encodeAny(s.Totals), encodeAny(s.Counts))
	}
	return b.String()
}

func TestRepeatedCollectionsCountOn(t *testing.T) {
	first, second := sampledInput("b", 3, 1), sampledInput("a", 3, 2)
	second.run.StartedAt = testTime.Add(time.Hour)
	r := analyse(t, Options{Inference: true}, first, second)
	c := r.Suites[0].Cells[0]
	if n := c.Comparisons[0].A.N; n != 6 {
		t.Fatalf("n is %d, want 6", n)
	}
	for _, p := range c.Processes {
		if fromSecond := r.Bundles[p.Bundle].Identity == "a"; fromSecond != (p.Round > 3) {
			t.Errorf("round %d comes from bundle %s", p.Round, r.Bundles[p.Bundle].Identity)
		}
	}
	if r.Study.Rounds != 6 {
		t.Errorf("%d rounds, want 6", r.Study.Rounds)
	}
}

func TestJoinRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(in *input)
		want   error
		text   string
	}{
		{"the same bundle twice", func(in *input) { in.identity = "1" }, ErrNotJoinable, "the same bundle"},
		{"another plan", func(in *input) { in.run.PlanSHA256 = "other" }, ErrNotJoinable, "its plan has the hash other"},
		{"another host", func(in *input) { in.host[0].Value = ptr("other") }, ErrNotJoinable, "hosts are never pooled"},
		{"other arms", func(in *input) {
			in.run.Arms[1].Name = "other"
			for i := range in.processes {
				if in.processes[i].Side == records.SideB {
					in.processes[i].Arm = "other"
				}
			}
		}, ErrNotJoinable, `its side B is "other"`},
		{"other programs", func(in *input) {
			in.inputs = []records.Input{{Kind: "binary", Name: "x", SHA256: ptr("other")}}
		}, ErrNotJoinable, "its programs of side A have other hashes"},
		{"an import", func(in *input) { in.run.Origin = "imported" }, ErrNotJoinable, "import all files into one"},
		{"an A/A collection", func(in *input) { in.run.AA = true }, ErrNotJoinable, "A/A"},
		{"a process twice", func(in *input) { in.processes[1].ProcessNo = 1 }, ErrInvalid, "process 1 is there twice"},
		{"a round twice", func(in *input) {
			in.processes[2].Round, in.processes[2].Side, in.processes[2].Arm = 1, records.SideA, "callback"
		}, ErrInvalid, "are both round 1 of side A"},
		{"a process of no cell", func(in *input) { in.processes[0].CellID = "nowhere" }, ErrInvalid, "cell one/nowhere, which is not there"},
		{"a side of neither", func(in *input) { in.processes[0].Side = "C" }, ErrInvalid, `side is "C"`},
		{"an arm of the other side", func(in *input) { in.processes[0].Arm = "coroutine" }, ErrInvalid, `arm is "coroutine", side A is "callback"`},
		{"an unknown outcome", func(in *input) { in.processes[0].Outcome = "fine" }, ErrInvalid, `outcome is "fine"`},
		{"a negative time", func(in *input) { in.processes[0].ElapsedNs = ptr(int64(-5)) }, ErrInvalid, "elapsed_ns is -5"},
		{"a cell twice", func(in *input) { in.cells = append(in.cells, in.cells[0]) }, ErrInvalid, "cell one/o1 is there twice"},
		{"a schema from the future", func(in *input) { in.run.SchemaVersion = 99 }, ErrInvalid, "schema version is 99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := sampledInput("2", 3, 1)
			c.change(other)
			_, err := join([]*input{sampledInput("1", 3, 1), other})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got error %v, want one with %q", err, c.text)
			}
		})
	}
}

func TestSamplesThatContradictTheRecordAreRefused(t *testing.T) {
	for name, change := range map[string]func(in *input){
		"fewer than recorded": func(in *input) { in.processes[0].SampleCount = ptr(int64(1999)) },
		"no file":             func(in *input) { in.withSamples(nil) },
		"a negative latency": func(in *input) {
			in.withSamples(map[int32]records.Samples{1: {StartNs: make([]int64, 2000), LatencyNs: append(make([]int64, 1999), -1)}})
		},
		"columns of different length": func(in *input) {
			in.withSamples(map[int32]records.Samples{1: {StartNs: make([]int64, 1000), LatencyNs: make([]int64, 2000)}})
		},
	} {
		in := sampledInput("1", 3, 1)
		change(in)
		st, err := join([]*input{in})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.run(context.Background(), Options{Workers: 1}); err == nil || !strings.Contains(err.Error(), "process ") {
			t.Errorf("%s: got error %v, want one that names the process", name, err)
		}
	}
}

func TestSeparateArms(t *testing.T) {
	old, today := sampledInput("1", 6, 1), sampledInput("2", 6, 2)
	run := func(a, b *input, armA, armB string) *report.Report {
		t.Helper()
		st, err := separate(a, b, armA, armB)
		if err != nil {
			t.Fatal(err)
		}
		r, err := st.run(context.Background(), Options{Inference: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run(old, today, "coroutine", "B")
	if got := codes(r.Notes); !slices.Equal(got, []string{"not_paired separate_collections"}) {
		t.Errorf("notes are %q", got)
	}
	if names := []string{r.Study.Arms[0].Name, r.Study.Arms[1].Name}; names[0] == names[1] {
		t.Errorf("both arms are called %q", names[0])
	}
	c := comparison(t, r, "one", "o1", "throughput")
	if c.A.N != 6 || c.B.N != 6 {
		t.Errorf("n is %d and %d, want 6", c.A.N, c.B.N)
	}
	for _, i := range c.Inference {
		paired := i.Method == "signed_rank" || i.Method == "median_rank_interval" || i.Method == "paired_t_log"
		if paired != (i.Reason == report.ReasonNotPaired) && i.NeedN == 0 {
			t.Errorf("%s: reason %q", i.Method, i.Reason)
		}
	}
	today.host[0].Value, today.run.PlanSHA256 = ptr("another machine"), "another plan"
	if got := codes(run(old, today, "A", "A").Notes); !slices.Contains(got, "not_comparable host,plan") {
		t.Errorf("notes are %q", got)
	}
	if _, err := separate(old, today, "callback", "nobody"); err == nil || !strings.Contains(err.Error(), `no arm "nobody"`) {
		t.Errorf("an unknown arm gave %v", err)
	}
	for _, bad := range []string{"", "bundle", "bundle:", ":arm"} {
		if _, err := ParseArm(bad); err == nil {
			t.Errorf("%q was taken for an arm", bad)
		}
	}
}

func TestFloor(t *testing.T) {
	aa := sampledInput("1", 3, 1)
	aa.run.AA = true
	dir := t.TempDir()
	floor := filepath.Join(dir, ReportFile)
	if err := os.WriteFile(floor, []byte(encoded(t, analyse(t, Options{}, aa))), 0o600); err != nil {
		t.Fatal(err)
	}
	r := analyse(t, Options{Floor: dir}, sampledInput("2", 3, 2))
	for _, m := range []string{"throughput", "latency_p99"} {
		c := comparison(t, r, "two", "o4", m)
		if c.Floor == nil || c.Floor.Cells != 2 || c.Floor.LowPct > c.Floor.HighPct {
			t.Fatalf("floor of %s is %+v", m, c.Floor)
		}
		if change := c.ChangePct.Float(); c.Floor.Inside != (change >= c.Floor.LowPct && change <= c.Floor.HighPct) {
			t.Errorf("%s: %v is inside %+v", m, change, c.Floor)
		}
	}
	if got := codes(analyse(t, Options{}, aa).Suites[0].Notes); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "position_effect throughput") }) {
		t.Errorf("notes of an A/A study are %q", got)
	}
	if err := os.WriteFile(floor, []byte(encoded(t, r)), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := join([]*input{sampledInput("2", 3, 2)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.run(context.Background(), Options{Floor: floor}); !errors.Is(err, ErrNotAA) {
		t.Errorf("a floor that is no A/A analysis gave %v", err)
	}
}
