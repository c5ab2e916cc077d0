package duckdbtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bundle"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// allSizes are sample counts around the ranks' corners and the pages' limits.
var allSizes = []int{1, 2, 99, 100, 101, 1000, 4096, 9_001}

// makeBundle leaves a sealed bundle with everything an analysis has to tell
// apart: even and odd numbers of processes, a failed one, an arm that is
// missing, cells without samples, a schedule, absent counters.
//
// Each suite has a cell for each size, the number of samples of a process; none
// given means allSizes.
func makeBundle(t *testing.T, dir string, seed uint64, sizes ...int) string {
	t.Helper()
	return makeBundleOf(t, dir, seed, []string{"closed", "open", "stated"}, sizes...)
}

// makeBundleOf is makeBundle with some of its suites; stated has no samples.
func makeBundleOf(t *testing.T, dir string, seed uint64, suites []string, sizes ...int) string {
	t.Helper()
	if len(sizes) == 0 {
		sizes = allSizes
	}
	random := rand.New(rand.NewPCG(seed, 1))
	factors := []records.RunFactor{{Name: "size", Kind: records.FactorInt}}
	run := records.Run{
		SchemaVersion: records.SchemaVersion, ToolVersion: "test", Study: "study", Profile: "database", Layout: "paired",
		Origin: "collected", Rounds: 4, Order: records.RunOrder{Kind: "alternate"}, StartedAt: start, EndedAt: start.Add(time.Hour),
		Lock: "complete",
		Arms: [2]records.RunArm{{Side: records.SideA, Name: "callback"}, {Side: records.SideB, Name: "coroutine"}},
	}
	for _, id := range suites {
		run.Suites = append(run.Suites, records.RunSuite{ID: id, Workload: "test", Factors: factors})
	}
	var cells []records.Cell
	for _, s := range run.Suites {
		for _, size := range sizes {
			cells = append(cells, records.Cell{
				CellID: fmt.Sprint("size=", size), Suite: s.ID, OperationsPerSample: 1,
				Factors:           []records.Factor{{Name: "size", Value: records.IntFactor(int64(size))}},
				PlannedOperations: ptr(int64(size)), PlannedWarmupOperations: ptr(int64(0)),
			})
		}
	}
	out := filepath.Join(dir, fmt.Sprintf("bundle-%d", seed))
	w, err := bundle.Create(atomicfile.OS{}, out, []byte("study: study\n"), run, cells)
	if err != nil {
		t.Fatal(err)
	}
	fail := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	fail(w.SetHost(nil))
	fail(w.SetInputs(nil))
	no := int32(0)
	for i, c := range cells {
		rounds := 3 + i%2
		for round := 1; round <= rounds; round++ {
			for k, side := range records.Sides {
				no++
				size := *c.PlannedOperations
				p := records.Process{
					ProcessNo: no, ProcessID: fmt.Sprintf("%s/%s/%s/r%d", c.Suite, c.CellID, side, round), Suite: c.Suite, CellID: c.CellID,
					Arm: run.Arms[k].Name, Side: side, Round: int32(round), Slot: no, FirstInPair: k == 0,
					Argv: "[]", Outcome: records.OutcomeOK, ExitCode: ptr(int32(0)),
					MeasuredOperations: ptr(size), WarmupOperations: ptr(int64(0)), Errors: ptr(int64(0)),
					ElapsedNs: ptr(100_000*size + random.Int64N(1_000_000)),
					CPUNs:     ptr(70_000*size + random.Int64N(1_000_000)),
				}
				p.Start(start.Add(time.Duration(no) * time.Second))
				if round != 2 {
					p.PeakRSSBytes = ptr(5<<20 + 4096*random.Int64N(100))
				}
				if i%3 == 0 {
					p.CPUScope, p.ProcessWallNs = ptr(records.CPUScopeProcess), ptr(*p.ElapsedNs+5_000_000)
				} else if i%3 == 1 {
					p.CPUScope, p.CPUWallNs = ptr(records.CPUScopeInterval), p.ElapsedNs
				}
				if i%5 == 4 && round == 1 {
					p.Outcome, p.OutcomeDetail = records.OutcomeTimeout, ptr("too slow")
				}
				if i%len(sizes) == len(sizes)-2 && side == records.SideB {
					p.Outcome, p.OutcomeDetail = records.OutcomeExitNonzero, ptr("exit code 1")
				}
				var samples *records.Samples
				if c.Suite == "stated" {
					p.StatedLatencyP50Ns = ptr(50_000 + random.Int64N(10_000))
					if round == 2 {
						p.StatedThroughputMicroPerSec = ptr(1_000_000*random.Int64N(50_000) + 7)
					}
					if round > 1 {
						p.StatedLatencyP99Ns = ptr(90_000 + random.Int64N(10_000))
					}
				} else {
					samples = draw(random, no, int(size), c.Suite == "open")
					p.SampleCount = ptr(size)
				}
				fail(w.Append(p, samples))
			}
		}
	}
	_, err = w.Seal(run)
	fail(err)
	return out
}

func draw(random *rand.Rand, no int32, n int, open bool) *records.Samples {
	s := &records.Samples{ProcessNo: no}
	at := int64(0)
	for range n {
		at += 50_000 + random.Int64N(100_000)
		// Coarse values give ties at the ranks that matter.
		latency := int64(math.Exp(11.4+0.4*random.NormFloat64())) / 64 * 64
		s.StartNs, s.LatencyNs = append(s.StartNs, at), append(s.LatencyNs, latency)
		if open {
			s.ScheduledNs = append(s.ScheduledNs, max(0, at-random.Int64N(40_000)))
		}
	}
	return s
}
