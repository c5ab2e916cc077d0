package benchstat

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pairbench/analyze/report"
	"pairbench/records"
	"pairbench/render/rendertest"
)

// benchstat runs the real benchstat and returns the centre of every row: unit,
// arm, name.
func benchstat(t *testing.T, text []byte) map[[3]string]float64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bench.txt")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "tool", "-modfile=../../go.tools.mod", "benchstat", "-format", "csv", "-col", "arm", file)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, problems.Bytes())
	}
	if bytes.Contains(problems.Bytes(), []byte("bench.txt")) {
		t.Errorf("benchstat does not like the text:\n%s", problems.Bytes())
	}
	r := csv.NewReader(bytes.NewReader(out))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	centres := map[[3]string]float64{}
	var arms, units []string
	for i, row := range rows {
		switch {
		case len(row) < 4 || row[0] == "geomean":
		case row[0] == "" && row[2] == "CI":
			arms, units = rows[i-1], row
		case row[0] != "":
			for _, column := range []int{1, 3} {
				v, err := strconv.ParseFloat(row[column], 64)
				if err != nil {
					t.Fatalf("row %v: %v", row, err)
				}
				centres[[3]string{units[column], arms[column], row[0]}] = v
			}
		}
	}
	return centres
}

// TestMediansOfBenchstatAreOurs compares every median of the published database
// study and of the release study with what the real benchstat makes of the text.
func TestMediansOfBenchstatAreOurs(t *testing.T) {
	for _, r := range []*report.Report{rendertest.Database(), rendertest.Release()} {
		var text bytes.Buffer
		if err := Write(&text, r); err != nil {
			t.Fatal(err)
		}
		got := benchstat(t, text.Bytes())
		compared := 0
		for i := range r.Suites {
			s := &r.Suites[i]
			for ci := range s.Cells {
				c := &s.Cells[ci]
				for m, comparison := range c.Comparisons {
					for side, arm := range []report.ArmSummary{comparison.A, comparison.B} {
						if arm.Median == nil {
							continue
						}
						key := [3]string{Unit(s.Metrics[m]), r.Study.Arms[side].Name, strings.TrimPrefix(Name(s, c), "Benchmark")}
						want := arm.Median.Float()
						if s.Metrics[m].Unit == "ns" {
							key[0] = strings.TrimSuffix(key[0], "ns") + "sec"
							want *= 1e-9
						}
						v, ok := got[key]
						if !ok || math.Abs(v-want) > 1e-12*math.Abs(want) {
							t.Errorf("%v: benchstat says %v (%v), we say %v", key, v, ok, want)
						}
						compared++
					}
				}
			}
		}
		if compared == 0 || compared != len(got) {
			t.Errorf("study %s: compared %d medians, benchstat has %d", r.Study.ID, compared, len(got))
		}
	}
}

func number(v int64) *report.Number {
	n := report.NewNumber(new(big.Rat).SetInt64(v))
	return &n
}

func TestHostileNamesStayOneWord(t *testing.T) {
	operations := int64(10)
	r := &report.Report{
		Study: report.Study{ID: "a\nBenchmarkFake 1 1 ns/op", Arms: [2]report.Arm{{Side: "A", Name: "one\u2028two\r\nBenchmarkFake"}, {Side: "B", Name: "b"}}},
		Suites: []report.Suite{{
			ID:      "suite one/two",
			Metrics: []report.Metric{{ID: "throughput", Unit: "per_sec", Better: "higher"}, {ID: "cpu", Unit: "pct", Better: "neither"}},
			Cells: []report.Cell{{
				ID:      "c",
				Factors: []report.FactorValue{{Name: "path", Value: "/a b\tc\n"}},
				Processes: []report.Process{
					{Side: records.SideA, Outcome: records.OutcomeOK, MeasuredOperations: &operations, Values: []*report.Number{number(5), nil}},
					{Side: records.SideA, Outcome: records.OutcomeTimeout, Values: []*report.Number{number(6), nil}},
					{Side: records.SideB, Outcome: records.OutcomeOK, Values: []*report.Number{number(7), number(8)}},
					{Side: records.SideB, Outcome: records.OutcomeOK, Values: []*report.Number{nil, nil}},
				},
			}},
		}},
	}
	var text bytes.Buffer
	if err := Write(&text, r); err != nil {
		t.Fatal(err)
	}
	want := `study: a BenchmarkFake 1 1 ns/op
Unit throughput-ops/s better=higher

arm: one two  BenchmarkFake
BenchmarkSuite_one_two/path=_a_b_c_	10	5 throughput-ops/s

arm: b
BenchmarkSuite_one_two/path=_a_b_c_	1	7 throughput-ops/s	8 cpu-pct
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
}
