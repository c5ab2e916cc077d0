package bundle

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pairbench/records"
	"pairbench/records/atomicfile"
)

// goldenDir holds a bundle that version 1 wrote and every later version reads.
// It is never written again: when the format changes, testdata gets a sibling.
// UPDATE_GOLDEN=1 makes it only where it is missing.
const goldenDir = "testdata/v1"

const goldenIdentityFile = "testdata/v1.identity"

func makeGolden(t *testing.T) {
	t.Helper()
	collectStudy(t, atomicfile.OS{}, goldenDir, 2)
	report := verifyClean(t, goldenDir)
	if err := os.WriteFile(goldenIdentityFile, []byte(report.Identity.String()+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestVersion1StaysReadable(t *testing.T) {
	if _, err := os.Stat(goldenDir); errors.Is(err, os.ErrNotExist) && os.Getenv("UPDATE_GOLDEN") != "" {
		makeGolden(t)
	}
	report := verifyClean(t, goldenDir)
	want, err := os.ReadFile(goldenIdentityFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Identity.String() + "\n"; got != string(want) {
		t.Errorf("identity is %s, was %s", got, want)
	}
	b, err := Open(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
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
	if err != nil || len(processes) != 4 {
		t.Fatalf("%d processes (%v)", len(processes), err)
	}
	for i, p := range processes {
		process, count := studyProcess(int32(i+1)), int64(100)
		process.SampleCount = &count
		if diff := cmp.Diff(process, p, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("process %d:\n%s", i+1, diff)
		}
		samples, ok, err := b.LoadSamples(p.ProcessNo)
		if diff := cmp.Diff(*studySamples(p.ProcessNo, 100), samples); err != nil || !ok || diff != "" {
			t.Errorf("samples of process %d: ok %v, %v\n%s", p.ProcessNo, ok, err, diff)
		}
	}
}

func FuzzDecodeRun(f *testing.F) {
	seed, err := json.Marshal(studyRun(3))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"schema_version":1}`))
	f.Add([]byte(`{"schema_version":99}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		run, err := decodeRun(text)
		if err != nil {
			return
		}
		if run.SchemaVersion < 1 || run.SchemaVersion > records.SchemaVersion {
			t.Errorf("version %d was read", run.SchemaVersion)
		}
		again, err := encodeRun(run)
		if err != nil {
			return // a date that JSON cannot hold
		}
		if twice, err := decodeRun(again); err != nil {
			t.Errorf("what was read does not read again: %v", err)
		} else if diff := cmp.Diff(run, twice, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestProcessNumbersInFileNames keeps the parsing of file names exact.
func TestProcessNumbersInFileNames(t *testing.T) {
	for name, want := range map[string]int32{
		"7.parquet": 7, "data/samples/12.parquet": 12, "2147483647.parquet": 2147483647,
		"0.parquet": 0, "-1.parquet": 0, "01.parquet": 0, "+1.parquet": 0, "2147483648.parquet": 0,
		".parquet": 0, "1.parquet.parquet": 0, "1": 0, "merged-0001.parquet": 0, "1e3.parquet": 0,
	} {
		got, ok := processOf(name, ".parquet")
		if got != want || ok != (want > 0) {
			t.Errorf("%s: process %d, ok %v, want %d", name, got, ok, want)
		}
	}
	if got := filepath.ToSlash(sampleFile(7)); got != "data/samples/7.parquet" {
		t.Errorf("samples of process 7 are in %s", got)
	}
}
