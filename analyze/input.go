package analyze

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pairbench/records"
)

// Errors of evidence that cannot be analysed, wrapped with the object.
var (
	// ErrInvalid is returned for a bundle whose tables contradict each other.
	ErrInvalid = errors.New("evidence contradicts itself")
	// ErrNotJoinable is returned for bundles that do not belong together.
	ErrNotJoinable = errors.New("bundles cannot be joined")
)

// input is one bundle, read.
type input struct {
	name, identity string
	run            records.Run
	cells          []records.Cell
	processes      []records.Process
	host           []records.HostFact
	inputs         []records.Input
	// readSamples calls use with the raw samples of a process; ok is false, and
	// use is not called, when it has none. It is safe for concurrent use.
	readSamples func(processNo int32, use func(sampleReader) error) (ok bool, err error)
	// sampleFile returns the path inside the bundle and the manifest's hash.
	sampleFile func(processNo int32) (path, sha256 string, ok bool)
}

// sampleReader reads the columns of one process's samples, each as often as
// wanted. A slice is valid only during the call.
type sampleReader interface {
	EachLatency(func([]int64) error) error
	EachStart(func([]int64) error) error
	// EachScheduled gives nothing where the samples had no schedule.
	EachScheduled(func([]int64) error) error
}

// cellKey names a cell of a study.
type cellKey struct{ suite, cell string }

func (k cellKey) String() string { return k.suite + "/" + k.cell }

// check verifies what the tables of a bundle promise each other.
func (in *input) check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("analyze %s: %w: %s", in.name, ErrInvalid, fmt.Sprintf(format, args...))
	}
	if in.run.SchemaVersion < 1 || in.run.SchemaVersion > records.SchemaVersion {
		return fail("schema version is %d, this version reads 1 to %d", in.run.SchemaVersion, records.SchemaVersion)
	}
	arms := map[records.Side]string{}
	for i, arm := range in.run.Arms {
		if arm.Side != records.Sides[i] {
			return fail("arm %d is side %q, expected %q", i+1, arm.Side, records.Sides[i])
		}
		arms[arm.Side] = arm.Name
	}
	suites := map[string]bool{}
	for _, s := range in.run.Suites {
		if suites[s.ID] {
			return fail("suite %q is there twice", s.ID)
		}
		suites[s.ID] = true
	}
	cells := map[cellKey]bool{}
	for _, c := range in.cells {
		key := cellKey{c.Suite, c.CellID}
		if cells[key] {
			return fail("cell %s is there twice", key)
		}
		if !suites[c.Suite] {
			return fail("cell %s is of a suite that the run does not name", key)
		}
		cells[key] = true
	}
	type place struct {
		cellKey
		side  records.Side
		round int32
	}
	numbers, places := map[int32]bool{}, map[place]int32{}
	for i := range in.processes {
		p := &in.processes[i]
		at := place{cellKey{p.Suite, p.CellID}, p.Side, p.Round}
		switch {
		case numbers[p.ProcessNo]:
			return fail("process %d is there twice", p.ProcessNo)
		case !cells[at.cellKey]:
			return fail("process %d is of cell %s, which is not there", p.ProcessNo, at.cellKey)
		case !p.Side.Valid():
			return fail("process %d: side is %q", p.ProcessNo, p.Side)
		case p.Arm != arms[p.Side]:
			return fail("process %d: arm is %q, side %s is %q", p.ProcessNo, p.Arm, p.Side, arms[p.Side])
		case !p.Outcome.Valid():
			return fail("process %d: outcome is %q", p.ProcessNo, p.Outcome)
		case places[at] != 0:
			return fail("processes %d and %d are both round %d of side %s in cell %s", places[at], p.ProcessNo, p.Round, p.Side, at.cellKey)
		}
		if name, v := negativeField(p); name != "" {
			return fail("process %d: %s is %d", p.ProcessNo, name, v)
		}
		numbers[p.ProcessNo] = true
		places[at] = p.ProcessNo
	}
	return nil
}

// negativeField returns the first counter or duration of p that is below zero.
func negativeField(p *records.Process) (string, int64) {
	for _, f := range []struct {
		name  string
		value *int64
	}{
		{"measured_operations", p.MeasuredOperations}, {"warmup_operations", p.WarmupOperations},
		{"errors", p.Errors}, {"incomplete", p.Incomplete}, {"warmup_errors", p.WarmupErrors},
		{"sample_count", p.SampleCount}, {"elapsed_ns", p.ElapsedNs}, {"cpu_ns", p.CPUNs},
		{"cpu_wall_ns", p.CPUWallNs}, {"peak_rss_bytes", p.PeakRSSBytes},
		{"stated_latency_p50_ns", p.StatedLatencyP50Ns}, {"stated_latency_p99_ns", p.StatedLatencyP99Ns},
		{"stated_throughput_micro_per_sec", p.StatedThroughputMicroPerSec},
	} {
		if f.value != nil && *f.value < 0 {
			return f.name, *f.value
		}
	}
	return "", 0
}

// hostIdentityFacts are the facts that a machine keeps from one collection to
// the next: two bundles of one host agree in all of them.
var hostIdentityFacts = []string{
	"machine.id", "machine.vendor", "machine.product", "machine.arch", "cpu.model", "cpu.logical",
	"memory.total_bytes", "os.name", "os.version", "kernel.release",
}

// hostIdentity is the part of a bundle's host facts by which hosts are told
// apart; "" when the bundle knows none of them.
func (in *input) hostIdentity() string {
	var parts []string
	for _, f := range in.host {
		if f.Value != nil && slices.Contains(hostIdentityFacts, f.Name) {
			parts = append(parts, f.Name+"="+*f.Value)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

// hostDifference returns the facts of each host that the other one lacks or has
// otherwise; both are "" when the hosts are one.
func hostDifference(a, b *input) (ofA, ofB string) {
	facts := func(in *input) []string { return strings.Split(in.hostIdentity(), "\n") }
	without := func(all, other []string) string {
		left := slices.DeleteFunc(slices.Clone(all), func(fact string) bool { return slices.Contains(other, fact) })
		if len(left) == 0 && !slices.Equal(all, other) {
			return "none of these facts"
		}
		return strings.Join(left, ", ")
	}
	return without(facts(a), facts(b)), without(facts(b), facts(a))
}

// armLock is what the hash lock says an arm is made of: the binaries and
// scripts it starts with.
func (in *input) armLock(side records.Side) string {
	var parts []string
	for _, i := range in.inputs {
		if i.SHA256 != nil && (i.Kind == "binary" || i.Kind == "script") && (i.Side == nil || *i.Side == string(side)) && i.RequiredBy == nil {
			parts = append(parts, *i.SHA256)
		}
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), " ")
}

// sortInputs brings inputs into the order of their identities, which is the
// order of a report's bundles whatever order they were named in.
func sortInputs(inputs []*input) {
	slices.SortFunc(inputs, func(a, b *input) int { return cmp.Compare(a.identity, b.identity) })
}
