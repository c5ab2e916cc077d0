package interop

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pairbench/analyze"
	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bundle"
)

// start has nanoseconds below a microsecond, before which Parquet's timestamps
// end, and an instant that readers with local time would show as another day.
var start = time.Date(2026, 3, 4, 23, 30, 7, 123456789, time.UTC)

// hostileOutput is no valid UTF-8 and holds what breaks text formats.
var hostileOutput = []byte("a\x00b\xff\xfe\xc3(\r\n\x1b[31m\"'|,</script>=cmd\u202e")

func ptr[T any](v T) *T { return &v }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// study is what a generated bundle holds.
type study struct {
	seed             uint64
	cells, firstCell int // cells are numbered on from firstCell
	rounds           int
	samples          int // of each process
	shard            *records.RunShard
	// Texts, each with a default.
	plan, memory, program string
}

// suites have a closed loop, an open one with a schedule, and none with samples.
var suites = []string{"closed", "open", "stated"}

func (s study) run() records.Run {
	factors := []records.RunFactor{
		{Name: "payload_bytes", Kind: records.FactorInt, Unit: "bytes"}, {Name: "load", Kind: records.FactorFloat},
		{Name: "tls", Kind: records.FactorBool}, {Name: "cadence", Kind: records.FactorString},
	}
	run := records.Run{
		ToolVersion: "test", Study: "interop", Profile: "database", Layout: "paired", Origin: "collected",
		Rounds: s.rounds, Order: records.RunOrder{Kind: "alternate"}, StartedAt: start, EndedAt: start.Add(time.Hour), Lock: "complete",
		Arms:  [2]records.RunArm{{Side: records.SideA, Name: "callback"}, {Side: records.SideB, Name: "coroutine"}},
		Shard: s.shard, PlannedProcesses: s.cells * s.rounds * 2,
	}
	for _, id := range suites {
		run.Suites = append(run.Suites, records.RunSuite{ID: id, Workload: "test", Factors: factors})
	}
	return run
}

// write leaves the study's bundle at dir. A cell's values depend on the seed and
// the cell's number alone, so that shards hold what the whole holds.
func (s study) write(t *testing.T, dir string) {
	t.Helper()
	run := s.run()
	var cells []records.Cell
	for i := range s.cells {
		n := s.firstCell + i
		c := records.Cell{
			CellID: fmt.Sprintf("%dB/连续|%d", 64<<(n%5), n), Suite: suites[n%len(suites)], OperationsPerSample: 1,
			Factors: []records.Factor{
				{Name: "payload_bytes", Value: records.IntFactor(64 << (n % 5))}, {Name: "load", Value: records.FloatFactor(0.1 * float64(n+1))},
				{Name: "tls", Value: records.BoolFactor(n%2 == 1)}, {Name: "cadence", Value: records.StringFactor("连续 \"x\"")},
			},
			PlannedOperations: ptr(int64(s.samples)),
		}
		if n%2 == 1 {
			c.PlannedOperations, c.PlannedDurationNs = nil, ptr(int64(1e9))
		}
		cells = append(cells, c)
	}
	plan := cmp.Or(s.plan, "plan: 1\nstudy: interop\n")
	w, err := bundle.Create(atomicfile.OS{}, dir, []byte(plan), run, cells)
	check(t, err)
	defer w.Close()
	check(t, w.SetHost([]records.HostFact{
		{Name: "cpu.model", Value: ptr("test 型号"), Source: "test"},
		{Name: "cpu.governor", Source: "test", AbsentReason: ptr("no such file")},
		{Name: "memory.total_bytes", Value: ptr(cmp.Or(s.memory, "1073741824")), Unit: ptr("bytes"), Source: "test"},
	}))
	sum := hash([]byte(cmp.Or(s.program, "program")))
	check(t, w.SetInputs([]records.Input{
		{Kind: "binary", Name: "callback", Path: ptr("/opt/callback"), Side: ptr("A"), Bytes: ptr(int64(7)), SHA256: &sum, SHA256After: &sum, ResolvedBy: "argv"},
		{Kind: "library", Name: "libx.so", ResolvedBy: "ld.so.cache", RequiredBy: ptr("/opt/callback"), Gap: ptr("not found")},
	}))
	for i, c := range cells {
		random := rand.New(rand.NewPCG(s.seed, uint64(s.firstCell+i)))
		for round := 1; round <= s.rounds; round++ {
			for side := range records.Sides {
				no := int32(((s.firstCell+i)*s.rounds+round-1)*2 + side + 1)
				p, samples := s.process(random, run, c, no, int32(round), side)
				check(t, w.Append(p, samples))
			}
		}
	}
	_, err = w.Seal(run)
	check(t, err)
}

func (s study) process(random *rand.Rand, run records.Run, c records.Cell, no, round int32, side int) (records.Process, *records.Samples) {
	p := records.Process{
		ProcessNo: no, ProcessID: fmt.Sprintf("%s/%s/%s/r%d", c.Suite, c.CellID, run.Arms[side].Name, round), Suite: c.Suite, CellID: c.CellID,
		Arm: run.Arms[side].Name, Side: records.Sides[side], Round: round, Slot: no, FirstInPair: side == 0,
		Argv: `["/opt/callback","--name","\"q\""]`, Outcome: records.OutcomeOK, ExitCode: ptr(int32(0)),
		Stdout: hostileOutput, StdoutBytes: int64(len(hostileOutput)), StdoutSHA256: hash(hostileOutput),
		Stderr: []byte{}, StderrSHA256: hash(nil),
		MeasuredOperations: ptr(int64(s.samples)), WarmupOperations: ptr(int64(0)), Errors: ptr(int64(0)),
		ElapsedNs: ptr(int64(s.samples)*1000 + 1<<53 + random.Int64N(1_000_000)), // beyond what a double holds
		CPUNs:     ptr(random.Int64N(1_000_000_000)),
	}
	if no%3 == 0 {
		p.CPUScope, p.CPUWallNs = ptr(records.CPUScopeInterval), p.ElapsedNs
	}
	if no%4 != 0 {
		p.PeakRSSBytes = ptr(4096 * random.Int64N(100_000))
	}
	if no%7 == 0 {
		p.Outcome, p.OutcomeDetail, p.ExitCode, p.Signal = records.OutcomeSignalled, ptr("killed"), nil, ptr(int32(9))
	}
	if c.Suite != "stated" {
		p.Start(start.Add(time.Duration(no) * 1234567891))
	} else {
		p.StatedLatencyP50Ns, p.StatedLatencyP99Ns = ptr(random.Int64N(100_000)), ptr(100_000+random.Int64N(100_000))
		return p, nil
	}
	out := &records.Samples{ProcessNo: no, StartNs: make([]int64, s.samples), LatencyNs: make([]int64, s.samples)}
	if c.Suite == "open" {
		out.ScheduledNs = make([]int64, s.samples)
	}
	clock := int64(0)
	for i := range s.samples {
		clock += 50_000 + random.Int64N(100_000)
		out.StartNs[i] = clock
		// Coarse values give ties at the ranks that matter.
		out.LatencyNs[i] = (20_000 + random.Int64N(30_000)) / 64 * 64
		if out.ScheduledNs != nil {
			out.ScheduledNs[i] = max(0, clock-random.Int64N(40_000))
		}
	}
	p.SampleCount = ptr(int64(s.samples))
	return p, out
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// analysis leaves an analysis of the bundles beside the first and returns its
// directory.
func analysis(t *testing.T, bundles ...string) string {
	t.Helper()
	out := bundles[0] + ".analysis"
	_, err := analyze.Run(context.Background(), analyze.Options{Bundles: bundles, Out: out})
	check(t, err)
	return out
}

// root is the repository's directory.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	check(t, err)
	return dir
}

// python runs a script of testdata and returns what it printed; the test fails
// when the script does.
func python(t *testing.T, script string, args ...string) string {
	t.Helper()
	interpreter := os.Getenv("PAIRBENCH_PYTHON")
	if interpreter == "" {
		interpreter = filepath.Join(root(t), ".venv", "bin", "python")
	}
	if _, err := os.Stat(interpreter); err != nil {
		t.Fatalf("no Python with the readers: run make prepare, or name one in PAIRBENCH_PYTHON: %v", err)
	}
	if !filepath.IsAbs(script) {
		script = filepath.Join("testdata", script)
	}
	return output(t, "", interpreter, append([]string{script}, args...)...)
}

// node runs a script of testdata with hyparquet at hand.
func node(t *testing.T, script string, args ...string) string {
	t.Helper()
	modules := os.Getenv("PAIRBENCH_NODE_MODULES")
	if modules == "" {
		modules = filepath.Join(root(t), ".venv", "node", "node_modules")
	}
	if _, err := os.Stat(filepath.Join(modules, "hyparquet")); err != nil {
		t.Fatalf("no hyparquet: run make prepare, or name its node_modules in PAIRBENCH_NODE_MODULES: %v", err)
	}
	return output(t, "", "node", append([]string{filepath.Join("testdata", script), modules}, args...)...)
}

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, all.String())
	}
	return all.String()
}
