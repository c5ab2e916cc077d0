package bundle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pairbench/records"
	"pairbench/records/bag"
	"pairbench/records/digest"
)

// The kinds of findings beyond those of package bag.
const (
	KindVersion       bag.Kind = "schema_version" // written by a version that this one cannot read
	KindUndecodable   bag.Kind = "undecodable"    // the hash is right, the content is no such file
	KindContradiction bag.Kind = "contradiction"  // two places of the bundle say different things
	KindCount         bag.Kind = "count"          // a number of processes or samples is wrong
)

// VerifyReport is what Verify found.
type VerifyReport struct {
	Identity digest.SHA256 `json:"identity"`
	// Findings are sorted by path, then kind; empty means that the bundle is
	// whole.
	Findings []bag.Finding `json:"findings"`
	// Files and Bytes count what was hashed, Processes and Samples what the
	// tables hold; they are zero when the tables cannot be read.
	Files     int   `json:"files"`
	Bytes     int64 `json:"bytes"`
	Processes int   `json:"processes"`
	Samples   int64 `json:"samples"`
}

// Verify checks a sealed bundle: every hash in both directions, the schema
// version, and that plan, processes and samples agree in their counts. What is
// wrong is a finding; the error is for a bundle that is not there, unfinished,
// none at all (ErrNoBundle), or cannot be opened.
func Verify(dir string) (VerifyReport, error) { return VerifyContext(context.Background(), dir) }

// VerifyContext is Verify that can be cancelled.
func VerifyContext(ctx context.Context, dir string) (VerifyReport, error) {
	if err := refuseOthers(dir); err != nil {
		return VerifyReport{}, fmt.Errorf("verify %s: %w", dir, err)
	}
	whole, err := bag.Verify(ctx, dir)
	if err != nil {
		return VerifyReport{}, err
	}
	v := verification{report: VerifyReport{
		Identity: whole.Identity, Findings: whole.Findings, Files: whole.Files, Bytes: whole.Bytes,
	}}
	if len(whole.Findings) == 0 {
		v.content(dir)
	}
	if v.report.Findings == nil {
		v.report.Findings = []bag.Finding{}
	}
	slices.SortStableFunc(v.report.Findings, func(a, b bag.Finding) int { return strings.Compare(a.Path, b.Path) })
	return v.report, nil
}

type verification struct{ report VerifyReport }

func (v *verification) add(path string, kind bag.Kind, format string, args ...any) {
	v.report.Findings = append(v.report.Findings, bag.Finding{Path: path, Kind: kind, Detail: fmt.Sprintf(format, args...)})
}

func (v *verification) addError(err error) {
	var found *IntegrityError
	if errors.As(err, &found) {
		v.report.Findings = append(v.report.Findings, found.Findings...)
		return
	}
	v.add(".", bag.KindUnreadable, "%v", err)
}

// content checks what the files say, once their hashes are right.
func (v *verification) content(dir string) {
	b, err := Open(dir)
	if err != nil {
		v.addError(err)
		return
	}
	defer b.Close()
	v.plan(b)
	cells, err := b.Cells()
	if err != nil {
		v.addError(err)
	}
	for _, read := range []func() error{
		func() error { _, err := b.Host(); return err },
		func() error { _, err := b.Inputs(); return err },
	} {
		if err := read(); err != nil {
			v.addError(err)
		}
	}
	processes, err := b.Processes()
	if err != nil {
		v.addError(err)
		return
	}
	v.counts(b.Run(), processes)
	v.rows(processes, cells)
	v.amounts(b.Run(), processes, cells)
	v.samples(b, processes)
	v.packageHashes(b)
}

func (v *verification) plan(b *Bundle) {
	text, err := b.Plan()
	if err != nil {
		v.addError(err)
		return
	}
	if got, want := digest.Sum(text).String(), b.run.PlanSHA256; got != want {
		v.add(PlanFile, KindContradiction, "sha256 is %s, %s says %s", got, RunFile, want)
	}
}

func (v *verification) counts(run records.Run, processes []records.Process) {
	v.report.Processes = len(processes)
	failed := 0
	for _, p := range processes {
		if p.Outcome != records.OutcomeOK {
			failed++
		}
	}
	for _, c := range []struct {
		name      string
		said, got int
	}{
		{"planned_processes", run.PlannedProcesses, len(processes)},
		{"processes", run.Processes, len(processes)},
		{"failed_processes", run.FailedProcesses, failed},
	} {
		if c.said != c.got {
			v.add(RunFile, KindCount, "%s is %d, %s has %d", c.name, c.said, ProcessesFile, c.got)
		}
	}
}

func (v *verification) rows(processes []records.Process, cells []records.Cell) {
	known := make(map[[2]string]bool, len(cells))
	for _, c := range cells {
		key := [2]string{c.Suite, c.CellID}
		if known[key] {
			v.add(CellsFile, KindContradiction, "cell %s of suite %s stands twice", c.CellID, c.Suite)
		}
		known[key] = true
	}
	numbers, slots := make(map[int32]bool), make(map[int32]bool)
	for _, p := range processes {
		if numbers[p.ProcessNo] || slots[p.Slot] {
			v.add(ProcessesFile, KindContradiction, "process %d in slot %d: number or slot stands twice", p.ProcessNo, p.Slot)
		}
		numbers[p.ProcessNo], slots[p.Slot] = true, true
		if !known[[2]string{p.Suite, p.CellID}] {
			v.add(ProcessesFile, KindContradiction, "process %d is of cell %s of suite %s, which %s does not have", p.ProcessNo, p.CellID, p.Suite, CellsFile)
		}
		if !p.Side.Valid() || !p.Outcome.Valid() {
			v.add(ProcessesFile, KindContradiction, "process %d has side %q and outcome %q", p.ProcessNo, p.Side, p.Outcome)
		}
	}
}

// amounts holds what a good process of a built-in workload says it did against
// what its cell planned. Imported processes, and programs of other people, did
// what their own tool planned.
func (v *verification) amounts(run records.Run, processes []records.Process, cells []records.Cell) {
	foreign := make(map[string]bool, len(run.Suites))
	for _, s := range run.Suites {
		foreign[s.ID] = s.Workload == "command" || s.Workload == "imported" || run.Origin == "imported"
	}
	planned := make(map[[2]string]records.Cell, len(cells))
	for _, c := range cells {
		if !foreign[c.Suite] {
			planned[[2]string{c.Suite, c.CellID}] = c
		}
	}
	for _, p := range processes {
		c := planned[[2]string{p.Suite, p.CellID}]
		if p.Outcome != records.OutcomeOK {
			continue
		}
		for _, amount := range []struct {
			name      string
			plan, did *int64
		}{
			{"measured", c.PlannedOperations, p.MeasuredOperations},
			{"warm-up", c.PlannedWarmupOperations, p.WarmupOperations},
		} {
			if amount.plan != nil && amount.did != nil && *amount.plan != *amount.did {
				v.add(ProcessesFile, KindCount, "process %d has %d %s operations, %s plans %d", p.ProcessNo, *amount.did, amount.name, CellsFile, *amount.plan)
			}
		}
	}
}

func (v *verification) samples(b *Bundle, processes []records.Process) {
	var s Samples
	defer s.Close()
	byNumber := make(map[int32]bool, len(processes))
	for _, p := range processes {
		byNumber[p.ProcessNo] = true
		ok, err := b.ReadSamples(&s, p.ProcessNo)
		if err != nil {
			v.addError(err)
			continue
		}
		if !ok {
			if p.SampleCount != nil {
				v.add(sampleFile(p.ProcessNo), bag.KindMissing, "process %d has %d samples", p.ProcessNo, *p.SampleCount)
			}
			continue
		}
		v.report.Samples += s.Rows()
		path, _, _ := b.SampleFile(p.ProcessNo)
		if p.SampleCount == nil || *p.SampleCount != s.Rows() {
			v.add(path, KindCount, "%d samples of process %d, %s says %s", s.Rows(), p.ProcessNo, ProcessesFile, count(p.SampleCount))
		}
		m := s.Meta()
		if m.ProcessID != p.ProcessID || m.Suite != p.Suite || m.CellID != p.CellID || m.Arm != p.Arm || m.Side != p.Side || m.Round != p.Round {
			v.add(path, KindContradiction, "samples of %q, process %d is %q", m.ProcessID, p.ProcessNo, p.ProcessID)
		}
	}
	for _, no := range b.ProcessesWithSamples() {
		if !byNumber[no] {
			path, _, _ := b.SampleFile(no)
			v.add(path, KindContradiction, "samples of process %d, which %s does not have", no, ProcessesFile)
		}
	}
	if b.run.Samples != v.report.Samples {
		v.add(RunFile, KindCount, "samples is %d, the files hold %d", b.run.Samples, v.report.Samples)
	}
}

func count(n *int64) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}
