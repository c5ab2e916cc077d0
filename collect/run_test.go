package collect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/collect"
	"pairbench/collect/plan"
	"pairbench/records"
)

func TestCollect(t *testing.T) {
	b := newBed(t)
	p := b.plan("[a, b, c]", "")
	var seen []collect.Progress
	opts := b.options(p)
	opts.Progress = func(at collect.Progress) { seen = append(seen, at) }
	result := b.collect(opts)
	sealed, processes := b.open()
	if len(processes) != 12 || len(result.Failed) != 0 {
		t.Fatalf("%d processes, failed %v", len(processes), result.Failed)
	}
	if result.Identity != sealed.Identity() || result.Run.Samples != 1200 || result.Run.Processes != 12 {
		t.Errorf("result %+v", result)
	}
	// The order is proved by what the processes wrote.
	want := []string{
		"behave-a callback A 1", "behave-a coroutine B 1", "behave-b coroutine B 1", "behave-b callback A 1", "behave-c callback A 1", "behave-c coroutine B 1",
		"behave-a coroutine B 2", "behave-a callback A 2", "behave-b callback A 2", "behave-b coroutine B 2", "behave-c coroutine B 2", "behave-c callback A 2",
	}
	if diff := cmp.Diff(want, b.lines()); diff != "" {
		t.Errorf("order of execution (-want +got):\n%s", diff)
	}
	var got []string
	bySlot := make([]records.Process, len(processes))
	for _, p := range processes {
		bySlot[p.Slot-1] = p
	}
	for _, p := range bySlot {
		got = append(got, fmt.Sprintf("%s %s %s %d", p.CellID, p.Arm, p.Side, p.Round))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order by slot (-want +got):\n%s", diff)
	}
	first := processes[0]
	if first.ProcessID != "fake/behave-a/callback/r1" || first.Outcome != records.OutcomeOK || *first.ExitCode != 0 || first.Signal != nil ||
		*first.MeasuredOperations != 100 || *first.WarmupOperations != 5 || *first.SampleCount != 100 || *first.CPUNs != 1000 ||
		*first.CPUWallNs != *first.ElapsedNs || *first.CPUScope != records.CPUScopeInterval || first.ReadyNs == nil ||
		*first.ProcessWallNs <= 0 || first.OutcomeDetail != nil || *first.PeakRSSBytes <= 0 {
		t.Errorf("first process: %+v", first)
	}
	seeds := make(map[string]int)
	for _, p := range processes {
		seeds[*p.Runtime]++
	}
	if len(seeds) != 6 {
		t.Errorf("%d seeds for 6 pairs: %v", len(seeds), seeds)
	}
	if last := seen[len(seen)-1]; last.Phase != "seal" || last.Done != 12 || last.Total != 12 {
		t.Errorf("last progress %+v", last)
	}
}

func TestWhatGoesWrongIsData(t *testing.T) {
	b := newBed(t)
	p := b.plan(`[ok, "exit 3", silent, killed, gives up, garbage, count lies, errors, negative, short frame, percentile lies, shouts, leaves a daemon, no frame, "exit 4 at last"]`, "")
	opts := b.options(p)
	opts.Selection.Rounds = 1
	result := b.collect(opts)
	_, processes := b.open()
	want := map[string]string{
		"ok":              "ok",
		"exit 3":          "exit_nonzero: exit code 3 while the collector waited for hello",
		"silent":          "protocol_error: wait for hello: driver closed its messages",
		"killed":          "signalled: signal 9 ended it while the collector waited for ready",
		"gives up":        "operation_errors: wait for ready: driver reports: no connection to redis://user:[redacted]@host",
		"garbage":         "protocol_error: wait for ready: ",
		"count lies":      "invalid_result: 101 measured operations, the plan says 100",
		"errors":          "operation_errors: 2 errors, 0 incomplete, 0 warm-up errors: wrong reply, password=[redacted]",
		"negative":        "invalid_result: sample 1: start 100, latency -5: a value is negative",
		"short frame":     "invalid_result: the frame holds 99 samples, 100 stated",
		"percentile lies": "invalid_result: p99_ns is 100, the samples' nearest rank is 148",
		"shouts":          "ok",
		"leaves a daemon": "leftover: left 1 processes running: sleep",
		"no frame":        "invalid_result: no sample frame was written",
		"exit 4 at last":  "exit_nonzero: exit code 4",
	}
	cells := p.Suites[0].Cells
	failed := 0
	for _, process := range processes {
		var behave string
		for _, c := range cells {
			if c.CellID == process.CellID {
				behave = c.Factors[0].Value.Str
			}
		}
		got := string(process.Outcome)
		if process.OutcomeDetail != nil {
			got += ": " + *process.OutcomeDetail
		}
		if w := want[behave]; w == "ok" && got != "ok" || !strings.HasPrefix(got, w) {
			t.Errorf("%s (%s): got %s, want %s", behave, process.Arm, got, w)
		}
		if process.Outcome != records.OutcomeOK {
			failed++
		}
		if behave == "killed" && (process.Signal == nil || *process.Signal != 9 || process.ExitCode != nil) {
			t.Errorf("killed: exit code %v, signal %v", process.ExitCode, process.Signal)
		}
		if behave == "shouts" && (process.StderrBytes < 4<<20-16 || !process.StderrTruncated || len(process.Stderr) != 64<<10) {
			t.Errorf("shouts: %d bytes of stderr, %d kept, truncated %v", process.StderrBytes, len(process.Stderr), process.StderrTruncated)
		}
	}
	if len(processes) != 30 || len(result.Failed) != failed || result.Run.FailedProcesses != failed || failed != 26 {
		t.Errorf("%d processes, %d failed, the result names %d and counts %d", len(processes), failed, len(result.Failed), result.Run.FailedProcesses)
	}
	noSecrets(t, b.out())
}

func TestTimeLimitsAreKept(t *testing.T) {
	b := newBed(t)
	p := b.planWithin("2s", "6s", `[hang, will not exit]`, "")
	opts := b.options(p)
	opts.Selection.Rounds = 1
	result := b.collect(opts)
	if len(result.Failed) != 4 {
		t.Fatalf("%d processes failed, want all 4", len(result.Failed))
	}
	for _, failure := range result.Failed {
		if failure.Outcome != records.OutcomeTimeout {
			t.Errorf("%s: got %s: %s, want a timeout", failure.ProcessID, failure.Outcome, failure.Detail)
		}
	}
}

// noSecrets looks for the secret in every file, and in the decoded text that the
// processes wrote.
func noSecrets(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for _, s := range []string{secret, "hunter2"} {
			if bytes.Contains(text, []byte(s)) {
				t.Errorf("%s holds a secret", path)
			}
		}
		return err
	})
	if err != nil || files < 8 {
		t.Errorf("looked at %d files: %v", files, err)
	}
}

func TestDecodedRowsHoldNoSecret(t *testing.T) {
	b := newBed(t)
	opts := b.options(b.plan("[shouts, errors]", ""))
	opts.Selection.Rounds = 1
	b.collect(opts)
	_, processes := b.open()
	for _, p := range processes {
		if text := fmt.Sprintf("%s %s %s %s %s", p.Stdout, p.Stderr, p.Argv, *p.Runtime, detail(p)); strings.Contains(text, "hunter2") {
			t.Errorf("process %s holds the secret", p.ProcessID)
		}
		if !strings.Contains(*p.Runtime, `"secret":"[redacted]"`) {
			t.Errorf("the setting's name is gone: %s", *p.Runtime)
		}
	}
}

func detail(p records.Process) string {
	if p.OutcomeDetail == nil {
		return ""
	}
	return *p.OutcomeDetail
}

func TestInterruptAndResume(t *testing.T) {
	b := newBed(t)
	p := b.plan("[a, b]", "")
	for _, after := range []int{1, 3, 4} { // processes finished before the interrupt
		ctx, cancel := context.WithCancelCause(context.Background())
		opts := b.options(p)
		opts.Resume = after > 1
		runs := 0
		opts.Progress = func(at collect.Progress) {
			if at.Phase == "measure" && at.Done == after {
				cancel(errors.New("signal: interrupt"))
			}
			if at.Phase == "measure" {
				runs++
			}
		}
		_, err := collect.Run(ctx, opts)
		var interrupted *collect.InterruptedError
		if !errors.As(err, &interrupted) || interrupted.Done != after || interrupted.Total != 8 {
			t.Fatalf("interrupted after %d: %v", after, err)
		}
		if _, err := os.Stat(b.out() + ".partial"); err != nil {
			t.Fatal(err)
		}
	}
	opts := b.options(p)
	opts.Resume = true
	result := b.collect(opts)
	if result.Run.Resumes != 3 || result.Run.Processes != 8 {
		t.Errorf("resumes %d, processes %d", result.Run.Resumes, result.Run.Processes)
	}
	_, processes := b.open()
	bySlot := make(map[int32]records.Process)
	for _, p := range processes {
		bySlot[p.Slot] = p
	}
	for slot := int32(1); slot <= 8; slot += 2 {
		first, second := bySlot[slot], bySlot[slot+1]
		if first.CellID != second.CellID || first.Round != second.Round || first.Side == second.Side || !first.FirstInPair || second.FirstInPair ||
			!first.StartedAt.Before(*second.StartedAt) {
			t.Errorf("slots %d and %d are no pair: %s %s", slot, slot+1, first.ProcessID, second.ProcessID)
		}
	}
}

func TestResumeRefusesWhatChanged(t *testing.T) {
	b := newBed(t)
	p := b.plan("[a, b]", "")
	ctx, cancel := context.WithCancel(context.Background())
	opts := b.options(p)
	opts.Progress = func(at collect.Progress) {
		if at.Done == 2 {
			cancel()
		}
	}
	var interrupted *collect.InterruptedError
	if _, err := collect.Run(ctx, opts); !errors.As(err, &interrupted) {
		t.Fatal(err)
	}
	opts.Progress, opts.Resume = nil, true
	for name, tt := range map[string]struct {
		change func(*collect.Options)
		want   string
	}{
		"plan":      {func(o *collect.Options) { o.Plan = b.plan("[a, b]", "    notes: [changed]\n") }, "plan: sha256 was"},
		"selection": {func(o *collect.Options) { o.Selection = plan.Selection{Rounds: 5} }, "--rounds: was not given, is 5"},
		"aa":        {func(o *collect.Options) { o.AA = true }, "--aa: was false, is true"},
	} {
		changed := opts
		tt.change(&changed)
		_, err := collect.Run(context.Background(), changed)
		var refused *collect.ResumeError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want a refusal with %q", name, err, tt.want)
		}
	}
	// After the refusals the collection still goes on.
	if result := b.collect(opts); result.Run.Processes != 8 || result.Run.Resumes != 1 {
		t.Errorf("%d processes after %d resumes", result.Run.Processes, result.Run.Resumes)
	}
}

func TestRefusesBeforeTheFirstProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(bed, *collect.Options)
		want   string
	}{
		"an output that exists": {func(b bed, o *collect.Options) { o.Out = b.dir }, "file already exists"},
		"nothing to resume":     {func(b bed, o *collect.Options) { o.Resume = true }, "no such file or directory"},
		"no such program": {func(b bed, o *collect.Options) {
			o.Plan = b.parse("program: {command: [no-such-program-anywhere]}")
		}, "collect program no-such-program-anywhere"},
		"no such driver": {func(b bed, o *collect.Options) {
			o.Plan = b.parse("program: {builtin: pbdriver}")
		}, "it is built by: make build"},
		"a variable that is not set": {func(b bed, o *collect.Options) {
			o.Plan = b.parse(fmt.Sprintf(`program: {command: [%q, "{env.NOT_SET}"]}`, self))
		}, "the variable NOT_SET, which the program names, is not set"},
		"one binary for both": {func(b bed, o *collect.Options) {
			o.Plan = b.parse(fmt.Sprintf(`program: {command: [%q, plain, x], read: {}}`, self))
		}, "run the same binary"},
		"no suite": {func(b bed, o *collect.Options) { o.Selection.Suites = []string{"x"} }, "select --suite"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			opts := b.options(b.plan("[a]", ""))
			tt.change(b, &opts)
			_, err := collect.Run(context.Background(), opts)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if _, err := os.Stat(b.out() + ".partial"); err == nil {
				t.Error("something half-made is left")
			}
		})
	}
}

// parse makes a plan of one cell around a suite's program.
func (b bed) parse(program string) *plan.Plan {
	b.Helper()
	p, err := plan.Parse([]byte(`plan: 1
study: small
arms: [{name: one}, {name: two}]
rounds: 1
suites:
  - id: small
    workload: command
    `+program+`
    factors: {n: [3]}
    measure: {operations: 7}
`), "small.yaml")
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func TestProgramsWithoutTheProtocol(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t)
	opts := b.options(b.parse(fmt.Sprintf(`programs:
      one:
        command: [%q, plain, "{arm} n={n} took 1.5 ms, 1,007 ops, p99 12.3456us"]
        read: {fields: {elapsed_ns: {regexp: 'took ([0-9.]+) ms', scale: 1000000}, p99_ns: {regexp: 'p99 ([0-9.]+)us', scale: 1000}, errors: {regexp: 'errors ([0-9]+)'}}}
      two:
        command: [%q, plain, '{{"n": [{{"wall": 0.25, "ops": 7}}], "secret": "{env.DB_PASSWORD}"}}']
        read: {fields: {elapsed_ns: {json_path: "n[0].wall", scale: 1000000000}, measured_operations: {json_path: n.0.ops}}}`, self, self)))
	b.collect(opts)
	_, processes := b.open()
	one, two := processes[0], processes[1]
	if one.Outcome != records.OutcomeOK || *one.ElapsedNs != 1_500_000 || *one.StatedLatencyP99Ns != 12346 || *one.MeasuredOperations != 7 ||
		one.Errors != nil || one.SampleCount != nil || *one.CPUScope != records.CPUScopeProcess || one.PeakRSSBytes == nil ||
		!strings.Contains(one.Argv, "one n=3 took") {
		t.Errorf("one: %+v", one)
	}
	if two.Outcome != records.OutcomeOK || *two.ElapsedNs != 250_000_000 || *two.MeasuredOperations != 7 || two.StatedLatencyP99Ns != nil {
		t.Errorf("two: %s %+v", detail(two), two)
	}
	noSecrets(t, b.out())

	b = newBed(t)
	opts = b.options(b.parse(fmt.Sprintf(`program: {command: [%q, plain, x, fails], read: {}}`, self)))
	opts.AA = true
	result := b.collect(opts)
	if len(result.Failed) != 2 || result.Failed[0].Outcome != records.OutcomeExitNonzero || !result.Run.AA {
		t.Errorf("plain failure: %+v", result)
	}
}

// TestAProgramMayBeNamedByTheArm starts a program of each arm by one argument
// vector, each time anew.
func TestAProgramMayBeNamedByTheArm(t *testing.T) {
	b := newBed(t)
	for _, arm := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(b.dir, arm), []byte("#!/bin/sh\necho "+arm+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.collect(b.options(b.parse(fmt.Sprintf(`program: {command: [%q], read: {}}`, filepath.Join(b.dir, "{arm}")))))
	_, processes := b.open()
	for _, p := range processes {
		if said := string(p.Stdout); said != p.Arm+"\n" || p.Outcome != records.OutcomeOK {
			t.Errorf("%s is %s and says %q: %s", p.ProcessID, p.Outcome, said, p.Argv)
		}
	}
}

func TestAARunsArmATwice(t *testing.T) {
	b := newBed(t)
	opts := b.options(b.plan("[a]", ""))
	opts.AA = true
	b.collect(opts)
	for _, line := range b.lines() {
		if !strings.Contains(line, " callback ") {
			t.Errorf("under --aa a process ran as %s", line)
		}
	}
	_, processes := b.open()
	if processes[1].Arm != "coroutine" || processes[1].Side != records.SideB {
		t.Errorf("side B is recorded as %s %s", processes[1].Arm, processes[1].Side)
	}
}
