package notebook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pairbench/analyze"
	"pairbench/analyze/metric"
	"pairbench/analyze/report"
	"pairbench/analyze/report/reporttest"
	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bundle"
	"pairbench/render/notebook"
)

// python is the interpreter with the packages of .ci/requirements.txt.
func python(t *testing.T) string {
	t.Helper()
	for _, path := range []string{os.Getenv("PAIRBENCH_PYTHON"), "../../.venv/bin/python"} {
		if path == "" {
			continue
		}
		if found, err := exec.LookPath(path); err == nil {
			absolute, err := filepath.Abs(found)
			if err != nil {
				t.Fatal(err)
			}
			return absolute
		}
	}
	t.Fatal("this test runs a notebook: `make prepare` installs ipykernel, nbclient, pandas, pyarrow, polars and duckdb into .venv, or set PAIRBENCH_PYTHON")
	return ""
}

func ptr[T any](v T) *T { return &v }

func metricIDs() []string {
	var ids []string
	for _, m := range metric.All() {
		ids = append(ids, m.ID)
	}
	return ids
}

// collect leaves a sealed bundle with raw samples, one process of which failed,
// in which every metric of analyze/metric has values: its suites are a closed
// loop, an open one, runs of a program, and rates as their source states them.
func collect(t *testing.T, dir string) {
	t.Helper()
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	plan := []byte("plan: 1\n")
	run := records.Run{
		SchemaVersion: records.SchemaVersion, ToolVersion: "test", Study: "study", Profile: "database", Layout: "paired", Origin: "collected",
		Arms:   [2]records.RunArm{{Side: records.SideA, Name: "callback"}, {Side: records.SideB, Name: "coroutine"}},
		Rounds: 3, Order: records.RunOrder{Kind: "alternate"}, StartedAt: start, EndedAt: start.Add(time.Minute), PlannedProcesses: 48, Lock: "complete",
	}
	var cells []records.Cell
	for _, id := range []string{"redis_tcp", "open", "runs", "stated"} {
		run.Suites = append(run.Suites, records.RunSuite{ID: id, Profile: "database", Workload: "redis_echo", Factors: []records.RunFactor{{Name: "outstanding", Kind: records.FactorInt}},
			Metrics: metricIDs(), CPUScope: records.CPUScopeInterval})
		for _, n := range []int64{1, 16} {
			cells = append(cells, records.Cell{CellID: fmt.Sprintf("o%d", n), Suite: id, Factors: []records.Factor{{Name: "outstanding", Value: records.IntFactor(n)}},
				PlannedOperations: ptr(int64(1000)), PlannedWarmupOperations: ptr(int64(10)), OperationsPerSample: 1})
		}
	}
	w, err := bundle.Create(atomicfile.OS{}, dir, plan, run, cells)
	if err != nil {
		t.Fatal(err)
	}
	no := int32(0)
	for c := range cells {
		for round := int32(1); round <= 3; round++ {
			for i, side := range records.Sides {
				no++
				s := &records.Samples{ProcessNo: no}
				for k := range int64(997 + no) {
					s.StartNs = append(s.StartNs, k*100000)
					s.LatencyNs = append(s.LatencyNs, 80000+(k*7919*int64(no))%50021)
					if cells[c].Suite == "open" {
						s.ScheduledNs = append(s.ScheduledNs, k*100000-(k*977)%(k+1))
					}
				}
				n := int64(s.Len())
				p := records.Process{
					ProcessNo: no, ProcessID: fmt.Sprintf("%s/%s/%s/r%d", cells[c].Suite, cells[c].CellID, run.Arms[i].Name, round), Suite: cells[c].Suite, CellID: cells[c].CellID,
					Arm: run.Arms[i].Name, Side: side, Round: round, Slot: no, FirstInPair: i == 0, Argv: "[]", Outcome: records.OutcomeOK,
					ExitCode: ptr(int32(0)), MeasuredOperations: &n, WarmupOperations: ptr(int64(10)), Errors: ptr(int64(0)), SampleCount: &n, ElapsedNs: ptr(889149706 + int64(no)*977),
					CPUNs: ptr(1214845243 + int64(no)*331), CPUWallNs: ptr(889149706 + int64(no)*977), CPUScope: ptr(records.CPUScopeInterval),
					PeakRSSBytes: ptr(5881856 + int64(no)*4096), PeakRSSSource: ptr("vmhwm_at_done"),
				}
				switch p.Suite {
				case "runs":
					s, p.SampleCount, p.MeasuredOperations = nil, nil, ptr(int64(1))
				case "stated":
					s, p.SampleCount, p.StatedThroughputMicroPerSec = nil, nil, ptr(1124700000333+int64(no))
					p.StatedLatencyP50Ns, p.StatedLatencyP99Ns = ptr(80000+int64(no)), ptr(120000-int64(no))
				}
				p.Start(start)
				if no == 12 {
					p.Outcome, p.OutcomeDetail = records.OutcomeTimeout, ptr("step end")
				}
				if err := w.Append(p, s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := w.Seal(run); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, r *report.Report, opt notebook.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := notebook.Write(&b, r, opt); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const execute = `
import sys, nbformat, nbclient
book = nbformat.read(sys.argv[1], 4)
nbformat.validate(book)
nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": sys.argv[2]}}).execute()
for cell in book.cells:
    for output in cell.get("outputs", []):
        print(output.get("text") or output.get("data", {}).get("text/plain", ""))
`

// The notebook runs in a real kernel, and its three readers agree with the
// report on every number; with one digit of the report changed it stops.
func TestNotebookInAKernel(t *testing.T) {
	interpreter := python(t)
	dir := t.TempDir()
	collect(t, filepath.Join(dir, "bundle"))
	r, err := analyze.Run(context.Background(), analyze.Options{Bundles: []string{filepath.Join(dir, "bundle")}, Out: filepath.Join(dir, "analysis")})
	if err != nil {
		t.Fatal(err)
	}
	run := func(reportFile string) (string, error) {
		book := filepath.Join(dir, "analysis.ipynb")
		if err := os.WriteFile(book, write(t, r, notebook.Options{Report: reportFile, Bundles: []string{"bundle"}}), 0o644); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, interpreter, "-c", execute, book, dir)
		cmd.Env = append(os.Environ(), "JUPYTER_PLATFORM_DIRS=1", "HOME="+dir, "PATH="+filepath.Dir(interpreter)+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("analysis/report.json")
	if err != nil {
		t.Fatalf("the notebook does not run: %v\n%s", err, out)
	}
	// A cell and metric is n, median, min and max of two arms, and the change.
	rows, shown := 0, map[string]bool{}
	for _, s := range r.Suites {
		rows += len(s.Cells) * len(s.Metrics)
		for _, m := range s.Metrics {
			shown[m.ID] = true
		}
	}
	for _, id := range metricIDs() {
		if !shown[id] {
			t.Errorf("the report lacks %s, so that nothing is said of it", id)
		}
	}
	if n := strings.Count(out, fmt.Sprintf("%d numbers compared, all equal to the last digit", 9*rows)); n != 3 {
		t.Errorf("%d of 3 readers agree on %d numbers:\n%s", n, 9*rows, out)
	}
	for _, unit := range []string{"'elapsed_ns': 'ns'", "'peak_rss_bytes': 'bytes'"} {
		if !strings.Contains(out, unit) {
			t.Errorf("the units do not reach the frame, %s is missing:\n%s", unit, out)
		}
	}

	text, err := os.ReadFile(filepath.Join(dir, "analysis", "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, []byte(`"exact": "`)) + len(`"exact": "`)
	text[at] = '0' + (text[at]-'0'+1)%10
	if err := os.WriteFile(filepath.Join(dir, "changed.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := run("changed.json"); err == nil || !strings.Contains(out, "the report says") {
		t.Errorf("a changed digit goes unnoticed: %v\n%s", err, out)
	}
}

func TestNotebookIsWellFormed(t *testing.T) {
	paths := []string{"a \"b\"\\c", "中文", "x\n'''\n"}
	data := write(t, reporttest.Database(), notebook.Options{Report: "r\"\\.json", Bundles: paths})
	if again := write(t, reporttest.Database(), notebook.Options{Report: "r\"\\.json", Bundles: paths}); !bytes.Equal(data, again) {
		t.Error("the same report gives other bytes")
	}
	var book struct {
		Format int `json:"nbformat"`
		Cells  []struct {
			Type   string `json:"cell_type"`
			Source []string
		}
	}
	if err := json.Unmarshal(data, &book); err != nil {
		t.Fatal(err)
	}
	if book.Format != 4 || len(book.Cells) < 8 {
		t.Fatalf("format %d with %d cells", book.Format, len(book.Cells))
	}
	first := strings.Join(book.Cells[0].Source, "")
	lines := strings.Split(strings.TrimSpace(first), "\n")
	if len(lines) != 3 {
		t.Fatalf("a path leaves its line: %q", first)
	}
	var back []string
	if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[2], "BUNDLES = ")), &back); err != nil || strings.Join(back, "|") != strings.Join(paths, "|") {
		t.Errorf("the bundles are written as %q: %v", lines[2], err)
	}
}
