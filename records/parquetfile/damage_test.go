package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pairbench/records"
)

// readSamples reads all columns of a samples file.
func readSamples(content []byte) (records.Samples, error) {
	r, err := OpenSamples(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return records.Samples{}, err
	}
	s := records.Samples{ProcessNo: r.Meta().ProcessNo}
	for _, column := range []struct {
		each func(func([]int64) error) error
		to   *[]int64
	}{{r.EachStart, &s.StartNs}, {r.EachLatency, &s.LatencyNs}, {r.EachScheduled, &s.ScheduledNs}} {
		err := column.each(func(values []int64) error {
			*column.to = append(*column.to, values...)
			return nil
		})
		if err != nil {
			return records.Samples{}, err
		}
	}
	return s, nil
}

// mutantStride is how far apart the bytes are that are changed; with
// PAIRBENCH_ALL_FAULTS=1 each one is.
func mutantStride() int {
	if os.Getenv("PAIRBENCH_ALL_FAULTS") != "" {
		return 1
	}
	return 13
}

// mutants calls visit with the content changed in one byte after another, in
// several ways, and cut there.
func mutants(content []byte, visit func(what string, at int, mutant []byte)) {
	for at := 0; at < len(content); at += min(mutantStride(), 3) {
		for _, flip := range []byte{0x01, 0x10, 0x80, 0xff} {
			mutant := bytes.Clone(content)
			mutant[at] ^= flip
			visit("flip", at, mutant)
		}
		visit("cut", at, content[:at])
	}
}

// TestDamagedSamplesNeverLie changes the bytes of a samples file as if the
// hash had matched. What is read is either refused or what was written.
func TestDamagedSamplesNeverLie(t *testing.T) {
	for _, rows := range []int{0, 1, 200} {
		want := testSamples(7, rows, rows == 200)
		content := encodeSamples(t, new(SampleWriter), sampleMeta(7), want)
		trials, refused := 0, 0
		mutants(content, func(what string, at int, mutant []byte) {
			trials++
			got, err := readSamples(mutant)
			if err != nil {
				refused++
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("%d rows, %s at %d: %v, want ErrDamaged", rows, what, at, err)
				}
				return
			}
			if got.Len() != want.Len() || !equalValues(want.StartNs, got.StartNs) || !equalValues(want.LatencyNs, got.LatencyNs) ||
				got.ProcessNo == want.ProcessNo && len(got.ScheduledNs) > 0 && !equalValues(want.ScheduledNs, got.ScheduledNs) {
				t.Errorf("%d rows, %s at %d: other samples came back", rows, what, at)
			}
		})
		t.Logf("%d rows: %d mutants, %d refused, none wrong", rows, trials, refused)
	}
}

func testProcess() records.Process {
	n, scope, text := int64(5), records.CPUScopeInterval, "vmhwm_at_done"
	p := records.Process{
		ProcessNo: 1, ProcessID: "id", Suite: "redis_tcp", CellID: "64B", Arm: "callback", Side: records.SideA, Round: 1, Slot: 1,
		FirstInPair: true, Argv: `["x"]`, Outcome: records.OutcomeOK,
		Stdout: []byte{0, 255, 27}, StdoutBytes: 3, StdoutSHA256: "00", Stderr: []byte{}, StderrSHA256: "11",
		ElapsedNs: &n, CPUScope: &scope, PeakRSSSource: &text, MeasuredOperations: &n,
	}
	p.Start(time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC))
	return p
}

// TestDamagedTablesNeverCrash does the same to a table. Plain pages written by
// parquet-go carry a CRC; the footer's statistics and texts do not, and are not
// used. What a table holds is also held against other tables by its readers.
func TestDamagedTablesNeverCrash(t *testing.T) {
	second := testProcess()
	second.ProcessNo, second.Side, second.ElapsedNs = 2, records.SideB, nil
	want := []records.Process{testProcess(), second}
	var content bytes.Buffer
	if err := WriteProcesses(&content, want); err != nil {
		t.Fatal(err)
	}
	trials, wrong := 0, 0
	for at := 0; at < content.Len(); at += mutantStride() {
		mutant := bytes.Clone(content.Bytes())
		mutant[at] ^= 1 << (at % 8)
		trials++
		got, err := ReadProcesses(bytes.NewReader(mutant), int64(len(mutant)))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("byte %d: %v, want ErrDamaged", at, err)
			}
			continue
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			wrong++
			t.Errorf("byte %d: other rows came back:\n%s", at, diff)
		}
	}
	t.Logf("%d mutants, %d wrong", trials, wrong)
}

func TestDamagedCellsNeverCrash(t *testing.T) {
	n := int64(100)
	cells := []records.Cell{{CellID: "a", Suite: "s", PlannedOperations: &n, OperationsPerSample: 1, Factors: []records.Factor{
		{Name: "b", Value: records.BoolFactor(true)}, {Name: "p", Value: records.IntFactor(64)}, {Name: "c", Value: records.StringFactor("x")},
	}}}
	var content bytes.Buffer
	if err := WriteCells(&content, cells); err != nil {
		t.Fatal(err)
	}
	for at := 0; at < content.Len(); at += mutantStride() {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			mutant := bytes.Clone(content.Bytes())
			mutant[at] ^= flip
			// Arrow writes no CRC: a changed value can come back, a crash cannot.
			if _, err := ReadCells(bytes.NewReader(mutant), int64(len(mutant))); err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("byte %d: %v, want ErrDamaged", at, err)
			}
		}
	}
}

// TestClaimsDoNotTakeMemory gives the reader footers that claim lists and texts
// without end.
func TestClaimsDoNotTakeMemory(t *testing.T) {
	huge := binary.AppendUvarint(nil, math.MaxInt32)
	claims := map[string][]byte{
		"schema of 2^31 elements":     append([]byte{0x15, 4, 0x19, 0xfc}, huge...),
		"row groups of 2^31 elements": append([]byte{0x15, 4, 0x19, 0x0c, 0x16, 0, 0x19, 0xfc}, huge...),
		"key-values of 2^31 elements": append([]byte{0x15, 4, 0x59, 0xfc}, huge...),
		"text of 2^31 bytes":          append([]byte{0x15, 4, 0x58}, huge...),
		"nesting without end":         bytes.Repeat([]byte{0x1c}, 100_000),
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, footer := range claims {
		content := append([]byte(magic), footer...)
		content = binary.LittleEndian.AppendUint32(content, uint32(len(footer)))
		content = append(content, magic...)
		if _, err := OpenSamples(bytes.NewReader(content), int64(len(content))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
		if _, err := ReadTable(bytes.NewReader(content), int64(len(content))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: table: %v, want ErrDamaged", name, err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
		t.Errorf("the claims took %d bytes", used)
	}
}

// TestDictionaryBombIsRefused is a table of a few kilobytes that stands for
// far more text than is ever read.
func TestDictionaryBombIsRefused(t *testing.T) {
	rows := make([]records.Input, 5000)
	long := string(bytes.Repeat([]byte("x"), 1<<20))
	for i := range rows {
		rows[i] = records.Input{Kind: "a", Name: "b", ResolvedBy: long}
	}
	var content bytes.Buffer
	if err := WriteInputs(&content, rows); err != nil {
		t.Fatal(err)
	}
	if content.Len() > 16<<20 {
		t.Fatalf("the bomb takes %d bytes itself", content.Len())
	}
	if _, err := ReadInputs(bytes.NewReader(content.Bytes()), int64(content.Len())); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v, want ErrDamaged", err)
	}
}

func FuzzReadSamples(f *testing.F) {
	for _, rows := range []int{0, 1, 300} {
		f.Add(encodeSamples(f, new(SampleWriter), sampleMeta(1), testSamples(1, rows, rows == 300)))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := readSamples(content)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%v, want ErrDamaged", err)
		}
		for _, column := range [][]int64{s.StartNs, s.LatencyNs, s.ScheduledNs} {
			if _, negative := firstNegative(column); negative {
				t.Error("a negative value came back")
			}
		}
	})
}

func FuzzReadTables(f *testing.F) {
	var processes, cells bytes.Buffer
	if err := WriteProcesses(&processes, []records.Process{testProcess()}); err != nil {
		f.Fatal(err)
	}
	if err := WriteTable(&cells, testTable()); err != nil {
		f.Fatal(err)
	}
	f.Add(processes.Bytes())
	f.Add(cells.Bytes())
	f.Fuzz(func(t *testing.T, content []byte) {
		if _, err := ReadProcesses(bytes.NewReader(content), int64(len(content))); err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("processes: %v, want ErrDamaged", err)
		}
		if _, err := ReadTable(bytes.NewReader(content), int64(len(content))); err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("table: %v, want ErrDamaged", err)
		}
	})
}

func FuzzReadArrowSamples(f *testing.F) {
	f.Add(arrowStream(f, testSamples(1, 5, true)))
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := ReadArrowSamples(bytes.NewReader(content), 100)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%v, want ErrDamaged", err)
		}
		if s.Len() > 100 {
			t.Errorf("%d samples", s.Len())
		}
	})
}
