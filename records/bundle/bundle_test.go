package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bag"
)

const studyPlan = "plan: 1\nstudy: demo\n"

// studyRun is the run of a study of one cell with the given number of rounds.
func studyRun(rounds int) records.Run {
	seed := int64(7)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return records.Run{
		ToolVersion: "0.0.0-test", Study: "demo", Profile: "database", Layout: "paired", Origin: "collected",
		Arms: [2]records.RunArm{{Side: records.SideA, Name: "callback"}, {Side: records.SideB, Name: "coroutine"}},
		Suites: []records.RunSuite{{ID: "redis_tcp", Workload: "redis_echo", Factors: []records.RunFactor{
			{Name: "payload_bytes", Kind: records.FactorInt, Unit: "bytes"},
			{Name: "cadence", Kind: records.FactorString},
		}}},
		Rounds: rounds, Order: records.RunOrder{Kind: "alternate", Seed: &seed},
		StartedAt: at, EndedAt: at.Add(time.Minute), ElapsedNs: 60e9,
		PlannedProcesses: 2 * rounds, Lock: "complete",
	}
}

func studyCells() []records.Cell {
	operations := int64(100)
	return []records.Cell{{
		CellID: "64B-continuous", Suite: "redis_tcp", PlannedOperations: &operations, OperationsPerSample: 1,
		Factors: []records.Factor{
			{Name: "payload_bytes", Value: records.IntFactor(64)},
			{Name: "cadence", Value: records.StringFactor("continuous")},
		},
	}}
}

func studyHost() []records.HostFact {
	model, reason := "test cpu", "no such file"
	return []records.HostFact{
		{Name: "cpu.model", Value: &model, Source: "test"},
		{Name: "cpu.governor", Source: "test", AbsentReason: &reason},
	}
}

func studyInputs() []records.Input {
	path, sum, size := "/bin/driver", strings.Repeat("ab", 32), int64(12)
	return []records.Input{{Kind: "binary", Name: "driver", Path: &path, SHA256: &sum, SHA256After: &sum, Bytes: &size, ResolvedBy: "argv"}}
}

// studyProcess is the process of that number: odd ones are side A.
func studyProcess(no int32) records.Process {
	side, arm := records.SideA, "callback"
	if no%2 == 0 {
		side, arm = records.SideB, "coroutine"
	}
	round := (no + 1) / 2
	n := func(v int64) *int64 { return &v }
	exit, scope, source := int32(0), records.CPUScopeInterval, "vmhwm_at_done"
	p := records.Process{
		ProcessNo: no, ProcessID: fmt.Sprintf("redis_tcp/64B-continuous/%s/%d", arm, round),
		Suite: "redis_tcp", CellID: "64B-continuous", Arm: arm, Side: side, Round: round, Slot: no, FirstInPair: no%2 == 1,
		Argv: `["pbdriver","run"]`, Outcome: records.OutcomeOK, ExitCode: &exit,
		Stdout: []byte{0, 0xff, 'x'}, StdoutBytes: 3, StdoutSHA256: strings.Repeat("0", 64),
		Stderr: []byte{}, StderrSHA256: strings.Repeat("1", 64),
		MeasuredOperations: n(100), WarmupOperations: n(10), Errors: n(0), Incomplete: n(0), WarmupErrors: n(0),
		ElapsedNs: n(1_000_000), CPUNs: n(900_000), CPUWallNs: n(1_000_000), CPUScope: &scope,
		PeakRSSBytes: n(4 << 20), PeakRSSSource: &source, RSSFloorBytes: n(0),
	}
	p.Start(time.Date(2026, 3, 1, 12, 0, int(no), 123456789, time.UTC))
	return p
}

func studySamples(no int32, rows int) *records.Samples {
	random := rand.New(rand.NewPCG(1, uint64(no)))
	s := &records.Samples{ProcessNo: no, StartNs: make([]int64, rows), LatencyNs: make([]int64, rows), ClockTickNs: 20}
	for i := range rows {
		s.StartNs[i] = int64(i)*10_000 + random.Int64N(1000)
		s.LatencyNs[i] = 5_000 + random.Int64N(20_000)
	}
	return s
}

// collectStudy writes a whole bundle of the given number of rounds to dir.
func collectStudy(t testing.TB, fsys atomicfile.FS, dir string, rounds int) {
	t.Helper()
	w, err := Create(fsys, dir, []byte(studyPlan), studyRun(rounds), studyCells())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SetHost(studyHost()); err != nil {
		t.Fatal(err)
	}
	if err := w.SetInputs(studyInputs()); err != nil {
		t.Fatal(err)
	}
	for no := int32(1); no <= int32(2*rounds); no++ {
		if err := w.Append(studyProcess(no), studySamples(no, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Seal(w.Run()); err != nil {
		t.Fatal(err)
	}
}

// verifyClean fails unless dir verifies without a finding.
func verifyClean(t testing.TB, dir string) VerifyReport {
	t.Helper()
	report, err := Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("unexpected finding: %s", f)
	}
	return report
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	collectStudy(t, atomicfile.OS{}, dir, 2)
	report := verifyClean(t, dir)
	if report.Processes != 4 || report.Samples != 400 {
		t.Errorf("verify counts %d processes and %d samples, want 4 and 400", report.Processes, report.Samples)
	}
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.Identity() != report.Identity {
		t.Errorf("identity is %s, verify says %s", b.Identity(), report.Identity)
	}
	plan, err := b.Plan()
	if err != nil || string(plan) != studyPlan {
		t.Errorf("plan is %q (%v)", plan, err)
	}
	cells, err := b.Cells()
	if diff := cmp.Diff(studyCells(), cells); err != nil || diff != "" {
		t.Errorf("cells: %v\n%s", err, diff)
	}
	host, err := b.Host()
	if diff := cmp.Diff(studyHost(), host); err != nil || diff != "" {
		t.Errorf("host: %v\n%s", err, diff)
	}
	inputs, err := b.Inputs()
	if diff := cmp.Diff(studyInputs(), inputs); err != nil || diff != "" {
		t.Errorf("inputs: %v\n%s", err, diff)
	}
	processes, err := b.Processes()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range processes {
		want := studyProcess(int32(i + 1))
		count := int64(100)
		want.SampleCount = &count
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("process %d:\n%s", i+1, diff)
		}
		samples, ok, err := b.LoadSamples(p.ProcessNo)
		if diff := cmp.Diff(*studySamples(p.ProcessNo, 100), samples); err != nil || !ok || diff != "" {
			t.Errorf("samples of process %d: ok %v, %v\n%s", p.ProcessNo, ok, err, diff)
		}
	}
	if _, ok, err := b.Samples(99); ok || err != nil {
		t.Errorf("samples of process 99: ok %v, %v", ok, err)
	}
	run := b.Run()
	want := studyRun(2)
	want.SchemaVersion, want.PlanSHA256 = records.SchemaVersion, run.PlanSHA256
	want.Processes, want.Samples, want.MeasuredNs = 4, 400, 4_000_000
	if diff := cmp.Diff(want, run); diff != "" {
		t.Errorf("run:\n%s", diff)
	}
}

func TestExistingNamesAreRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	create := func() (*Writer, error) {
		return Create(atomicfile.OS{}, dir, []byte(studyPlan), studyRun(1), studyCells())
	}
	w, err := create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(); !errors.Is(err, ErrBusy) {
		t.Errorf("Create beside a writer: %v, want ErrBusy", err)
	}
	if _, err := Resume(atomicfile.OS{}, dir); !errors.Is(err, ErrBusy) {
		t.Errorf("Resume beside a writer: %v, want ErrBusy", err)
	}
	w.Close()
	if _, err := create(); !errors.Is(err, ErrUnfinished) {
		t.Errorf("Create over an unfinished bundle: %v, want ErrUnfinished", err)
	}
	for _, name := range []string{dir, dir + PartialSuffix} {
		if _, err := Open(name); !errors.Is(err, ErrUnfinished) {
			t.Errorf("Open %s: %v, want ErrUnfinished", name, err)
		}
		if _, err := Verify(name); !errors.Is(err, ErrUnfinished) {
			t.Errorf("Verify %s: %v, want ErrUnfinished", name, err)
		}
	}
	if w, err = Resume(atomicfile.OS{}, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Seal(w.Run()); err != nil {
		t.Fatal(err)
	}
	if _, err := create(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create over a sealed bundle: %v, want fs.ErrExist", err)
	}
	if _, err := Resume(atomicfile.OS{}, dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Resume of a sealed bundle: %v, want fs.ErrExist", err)
	}
	missing := filepath.Join(t.TempDir(), "none")
	if _, err := Resume(atomicfile.OS{}, missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Resume of nothing: %v, want fs.ErrNotExist", err)
	}
	if _, err := Verify(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Verify of nothing: %v, want fs.ErrNotExist", err)
	}
}

func TestCreateLeavesStrangersFilesAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	precious := filepath.Join(dir+PartialSuffix, "thesis.txt")
	if err := os.MkdirAll(filepath.Dir(precious), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(precious, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(atomicfile.OS{}, dir, nil, studyRun(1), nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create: %v, want fs.ErrExist", err)
	}
	if content, err := os.ReadFile(precious); err != nil || string(content) != "mine" {
		t.Errorf("the file is %q (%v)", content, err)
	}
}

func TestExtraFilesAreSealedIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	w, err := Create(atomicfile.OS{}, dir, []byte(studyPlan), studyRun(0), studyCells())
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{
		"import-source.csv": true, "run.json": false, "../x": false, "a b": false, "samples": false, "": false, ".tmp-1": false,
	} {
		if err := w.AddFile(name, strings.NewReader("a,b\n")); (err == nil) != ok {
			t.Errorf("AddFile(%q): %v, want ok %v", name, err, ok)
		}
	}
	if _, err := w.Seal(w.Run()); err != nil {
		t.Fatal(err)
	}
	verifyClean(t, dir)
	if _, err := os.Stat(filepath.Join(dir, bag.PayloadDir, "import-source.csv")); err != nil {
		t.Error(err)
	}
}

func TestCompactKeepsEverySample(t *testing.T) {
	root := t.TempDir()
	src, dst, again := filepath.Join(root, "demo"), filepath.Join(root, "compact"), filepath.Join(root, "again")
	w, err := Create(atomicfile.OS{}, src, []byte(studyPlan), studyRun(3), studyCells())
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[int32]records.Samples)
	for no, rows := range map[int32]int{1: 0, 2: 1, 3: 40_000, 4: 100} {
		s := studySamples(no, rows)
		if no == 4 { // one open loop among closed ones
			s.ScheduledNs = make([]int64, rows)
		}
		want[no] = *s
		if err := w.Append(studyProcess(no), s); err != nil {
			t.Fatal(err)
		}
	}
	for no := int32(5); no <= 6; no++ { // without a samples file
		if err := w.Append(studyProcess(no), nil); err != nil {
			t.Fatal(err)
		}
	}
	identity, err := w.Seal(w.Run())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compact(src, dst); err != nil {
		t.Fatal(err)
	}
	if _, err := Compact(dst, again); err != nil {
		t.Fatal(err)
	}
	if _, err := Compact(src, dst); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Compact over a bundle: %v, want fs.ErrExist", err)
	}
	for _, dir := range []string{src, dst, again} {
		verifyClean(t, dir)
		b, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if diff := cmp.Diff([]int32{1, 2, 3, 4}, b.ProcessesWithSamples()); diff != "" {
			t.Errorf("%s: processes with samples:\n%s", dir, diff)
		}
		for no, s := range want {
			got, ok, err := b.LoadSamples(no)
			if diff := cmp.Diff(s, got, cmpopts.EquateEmpty()); err != nil || !ok || diff != "" {
				t.Errorf("%s: samples of process %d: ok %v, %v\n%s", dir, no, ok, err, diff)
			}
		}
		from, ok := b.CompactedFrom()
		if dir == dst && (!ok || from != identity) {
			t.Errorf("compacted from %s, ok %v, want %s", from, ok, identity)
		}
	}
	files, err := filepath.Glob(filepath.Join(dst, bag.PayloadDir, "samples", "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("samples files of the compacted bundle are %v (%v), want two", files, err)
	}
}
