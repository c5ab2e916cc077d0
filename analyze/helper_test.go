package analyze

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pairbench/analyze/report"
	"pairbench/records"
)

var testTime = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// memorySamples are a process's samples in memory.
type memorySamples records.Samples

func (m memorySamples) EachLatency(yield func([]int64) error) error   { return yield(m.LatencyNs) }
func (m memorySamples) EachStart(yield func([]int64) error) error     { return yield(m.StartNs) }
func (m memorySamples) EachScheduled(yield func([]int64) error) error { return yield(m.ScheduledNs) }

// newInput returns a bundle in memory without processes.
func newInput(identity string, arms [2]string, suites ...records.RunSuite) *input {
	in := &input{
		name: "bundle-" + identity, identity: identity,
		run: records.Run{
			SchemaVersion: 1, ToolVersion: "test", Study: "study", PlanSHA256: "plan",
			Profile: "database", Layout: "paired", Origin: "collected",
			Rounds: 3, Order: records.RunOrder{Kind: "alternate"},
			StartedAt: testTime, EndedAt: testTime.Add(time.Minute), Lock: "complete",
			Suites: suites,
		},
		host: []records.HostFact{{Name: "cpu.model", Value: ptr("model"), Source: "test"}},
	}
	for i, side := range records.Sides {
		in.run.Arms[i] = records.RunArm{Side: side, Name: arms[i]}
	}
	in.withSamples(nil)
	return in
}

// withSamples gives the bundle the samples of some of its processes.
func (in *input) withSamples(samples map[int32]records.Samples) {
	in.readSamples = func(no int32, use func(sampleReader) error) (bool, error) {
		s, ok := samples[no]
		if !ok {
			return false, nil
		}
		return true, use(memorySamples(s))
	}
	in.sampleFile = func(no int32) (string, string, bool) {
		_, ok := samples[no]
		return "data/samples/" + strconv.Itoa(int(no)) + ".parquet", "hash", ok
	}
}

// addProcess appends a process in the next slot.
func (in *input) addProcess(c records.Cell, side records.Side, round int32, p records.Process) *records.Process {
	p.ProcessNo = int32(len(in.processes) + 1)
	p.Suite, p.CellID, p.Side, p.Round, p.Slot = c.Suite, c.CellID, side, round, p.ProcessNo
	p.Arm = in.run.Arms[slices.Index(records.Sides[:], side)].Name
	p.ProcessID = strings.Join([]string{c.Suite, c.CellID, p.Arm, "r" + strconv.Itoa(int(round))}, "/")
	if p.Outcome == "" {
		p.Outcome = records.OutcomeOK
	}
	p.Start(testTime.Add(time.Duration(p.ProcessNo) * time.Second))
	in.processes = append(in.processes, p)
	return &in.processes[len(in.processes)-1]
}

// analyse joins bundles in memory and returns their report.
func analyse(t *testing.T, o Options, inputs ...*input) *report.Report {
	t.Helper()
	st, err := join(inputs)
	if err != nil {
		t.Fatal(err)
	}
	r, err := st.run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readCSV returns the rows of a file in testdata as maps from column to text.
func readCSV(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, column := range lines[0] {
			row[column] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func atoi(t *testing.T, s string) *int64 {
	t.Helper()
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return &v
}
