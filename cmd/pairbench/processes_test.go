package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pairbench/analyze/report"
	"pairbench/records"
	"pairbench/records/bundle"
)

// misbehaviours are all that misbehave knows, with the outcome that a process
// gets for it and the beginning of the line that says why.
var misbehaviours = []struct {
	behave  string
	outcome records.Outcome
	detail  string
}{
	{"hangs", records.OutcomeTimeout, "wait for hello: nothing within 1s"},
	{"hangs behind a child", records.OutcomeTimeout, "wait for hello: nothing within 1s"},
	{"exits with 3", records.OutcomeExitNonzero, "exit code 3 while the collector waited for hello"},
	{"exits with 4 at last", records.OutcomeExitNonzero, "exit code 4"},
	{"killed", records.OutcomeSignalled, "signal 9 ended it while the collector waited for end"},
	{"endless line", records.OutcomeProtocolError, "wrote more than the limit: output limit"},
	{"endless message", records.OutcomeProtocolError, "wait for hello: line is longer than the protocol allows"},
	{"4 MiB on stderr", records.OutcomeExitNonzero, "exit code 3 while the collector waited for end"},
	{"binary output", records.OutcomeOperationErrors, "wait for end: driver reports: "},
	{"holds its output", records.OutcomeLeftover, "left "},
	{"daemon in another session", records.OutcomeLeftover, "left "},
	{"more operations", records.OutcomeInvalidResult, "101 measured operations, the plan says 100"},
	{"no operations", records.OutcomeInvalidResult, "0 measured operations, the plan says 100"},
	{"negative count", records.OutcomeInvalidResult, "errors is -1"},
	{"another number of samples", records.OutcomeInvalidResult, "99 samples, 100 measured operations"},
	{"too fast", records.OutcomeInvalidResult, "the last sample ends at 500000, elapsed_ns is 1"},
	{"too slow", records.OutcomeInvalidResult, "elapsed_ns is 3600000000000, the collector saw"},
	{"another p50", records.OutcomeInvalidResult, "p50_ns is 5001, the samples' nearest rank is 5000"},
	{"another p99", records.OutcomeInvalidResult, "p99_ns is 5001, the samples' nearest rank is 5000"},
	{"no samples", records.OutcomeInvalidResult, "no sample frame was written"},
	{"short frame", records.OutcomeInvalidResult, "bad sample frame"},
	{"damaged frame", records.OutcomeInvalidResult, "bad sample frame"},
	{"frame of 2^60 samples", records.OutcomeInvalidResult, "bad sample frame"},
	{"too few samples", records.OutcomeInvalidResult, "the frame holds 99 samples, 100 stated"},
	{"too many samples", records.OutcomeInvalidResult, "the frame holds 101 samples, 100 stated"},
	{"negative sample", records.OutcomeInvalidResult, "sample 50: start 250000, latency -1: a value is negative"},
	{"not monotonic", records.OutcomeInvalidResult, "sample 50 ends at 5000, before the sample in front of it"},
}

// TestMisbehavingProcessesAreNamedAndEnterNoMedian collects, verifies, analyses
// and renders a study in which one process of every cell misbehaves. Each
// honest process is the one that follows a misbehaving one, and looks around.
func TestMisbehavingProcessesAreNamedAndEnterNoMedian(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mark := "left-" + filepath.Base(filepath.Dir(dir)) + fmt.Sprint(os.Getpid())
	t.Setenv(leftMark, mark)
	want := map[string]int{}
	var names []string
	for i, m := range misbehaviours {
		want[m.behave] = i
		names = append(names, fmt.Sprintf("%q", m.behave))
	}
	planFile, out := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "bundle")
	writeFile(t, planFile, fmt.Sprintf(`plan: 1
study: misbehave
arms: [{name: a}, {name: b}]
rounds: 2
order: alternate
pass_env: [%s]
suites:
  - id: s
    workload: command
    program: {command: [%q]}
    factors: {behave: [%s]}
    measure: {operations: 100}
    step_limit: 1s
    time_limit: 5s
`, leftMark, self, strings.Join(names, ", ")))

	began := time.Now()
	_, stderr := command(t, exitFailedData, "collect", "--out", out, planFile)
	if took := time.Since(began); took > 60*time.Second {
		t.Errorf("the collection took %v", took)
	}
	if line := running(mark); line != "" {
		t.Errorf("left behind: %s", line)
	}
	if want := fmt.Sprintf("%d of %d processes failed and enter no median", len(misbehaviours), 4*len(misbehaviours)); !strings.Contains(stderr, want) {
		t.Errorf("stderr lacks %q:\n%s", want, stderr)
	}
	command(t, exitOK, "verify", out)

	processes, behaviours := processesOf(t, out), factorOf(t, out)
	if len(processes) != 4*len(misbehaviours) {
		t.Errorf("%d processes", len(processes))
	}
	named := map[string]records.Process{}
	for _, p := range processes {
		behave := behaviours[p.CellID]
		m := misbehaviours[want[behave]]
		detail := ""
		if p.OutcomeDetail != nil {
			detail = *p.OutcomeDetail
		}
		switch honest := p.Round != 1 || p.Arm != "b"; {
		case honest && p.Outcome != records.OutcomeOK:
			t.Errorf("%s: an honest process has outcome %s: %s", p.ProcessID, p.Outcome, detail)
		case !honest && (p.Outcome != m.outcome || !strings.HasPrefix(detail, m.detail)):
			t.Errorf("%s: outcome %s: %s; expected %s: %s", p.ProcessID, p.Outcome, detail, m.outcome, m.detail)
		case !honest:
			named[p.ProcessID] = p
		}
		if behave == "4 MiB on stderr" && p.Outcome != records.OutcomeOK && (p.StderrBytes != 4<<20 || !p.StderrTruncated) {
			t.Errorf("%s: %d bytes of stderr, truncated %t", p.ProcessID, p.StderrBytes, p.StderrTruncated)
		}
	}

	analysis, reports := filepath.Join(dir, "analysis"), filepath.Join(dir, "report")
	command(t, exitOK, "analyze", "--out", analysis, out)
	r, err := readReport(analysis)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Failures) != len(named) {
		t.Errorf("the report names %d failures, expected %d", len(r.Failures), len(named))
	}
	for _, f := range r.Failures {
		if p := named[f.ProcessID]; f.Outcome != p.Outcome || f.Detail == "" {
			t.Errorf("the report says of %s: %s: %s", f.ProcessID, f.Outcome, f.Detail)
		}
	}
	for _, cell := range r.Suites[0].Cells {
		for _, c := range cell.Comparisons {
			if c.Metric == "latency_p50" || c.Metric == "latency_p99" {
				checkHonest(t, cell.ID, c)
			}
		}
	}

	command(t, exitOK, "render", "--out", reports, analysis)
	for _, name := range []string{"report.en.html", "report.zh-CN.html", "report.en.md", "report.zh-CN.md"} {
		text := readFile(t, filepath.Join(reports, name))
		for id := range named {
			if !strings.Contains(text, id) {
				t.Errorf("%s does not name %s", name, id)
			}
		}
		if i := strings.IndexAny(text, "\x00\x1b\u202e"); i >= 0 {
			t.Errorf("%s holds a control character: %q", name, text[i:i+20])
		}
		if strings.Contains(text, "<script>alert") {
			t.Errorf("%s holds markup of a process", name)
		}
	}
	if i := strings.IndexAny(stderr, "\x00\x1b\u202e"); i >= 0 {
		t.Errorf("stderr holds a control character: %q", stderr)
	}
}

// checkHonest expects what honest processes measured, and all of it: two of arm
// a, and one of arm b.
func checkHonest(t *testing.T, cell string, c report.Comparison) {
	t.Helper()
	for _, arm := range []struct {
		got report.ArmSummary
		n   int
	}{{c.A, 2}, {c.B, 1}} {
		if arm.got.N != arm.n || arm.got.Median == nil || arm.got.Median.Float() != 1000 || arm.got.Max.Float() != 1000 {
			t.Errorf("%s, %s: n is %d, median %v; expected %d honest processes with 1000", cell, c.Metric, arm.got.N, arm.got.Median, arm.n)
		}
	}
}

// factorOf returns the text of a factor in every cell of a bundle, by cell.
func factorOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	b, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	cells, err := b.Cells()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, c := range cells {
		texts[c.CellID] = c.Factors[0].Value.Str
	}
	return texts
}

// command runs the command as its users do, and returns stdout and stderr.
func command(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command("pairbench", args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if code := exitOf(t, cmd.Run()); code != want {
		t.Fatalf("%v: exit code %d, expected %d:\n%s%s", args, code, want, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

func processesOf(t *testing.T, dir string) []records.Process {
	t.Helper()
	b, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	processes, err := b.Processes()
	if err != nil {
		t.Fatal(err)
	}
	return processes
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
