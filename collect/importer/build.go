package importer

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"pairbench/collect/importer/result"
	"pairbench/collect/plan"
	"pairbench/records"
)

// Options say what the files do not.
type Options struct {
	// Format is recorded as where the bundle comes from: csv, hyperfine.
	Format string
	// Plan gives cells, labels and arms their words; nil: they come from the
	// table.
	Plan *plan.Plan
	// Study and Profile are used without a plan.
	Study   string
	Profile string
	// ToolVersion is recorded in the run.
	ToolVersion string
}

// Import is a table in the shape of a bundle.
type Import struct {
	Run       records.Run
	Cells     []records.Cell
	Processes []records.Process
	// Samples holds the raw samples of the processes that have some, by number.
	Samples map[int32]*records.Samples
	Plan    []byte
}

// origin is the run's origin in a bundle that was imported.
const origin = "imported"

// layouts maps a profile to the layout of its published report.
var layouts = map[string]string{"database": "paired", "native": "compact", "release": "release"}

// ErrProfile is returned for a profile that does not exist.
var ErrProfile = errors.New("unknown profile")

// Build gives every observation its place: suite, cell, side, round. The same
// cell, arm and round twice, an arm that is neither A nor B, and factors that a
// plan does not have are errors that name the line.
func Build(file string, t result.Table, o Options) (Import, error) {
	b := builder{file: file, table: t, options: o, cellOf: map[string]int{}}
	if o.Profile == "" {
		o.Profile = "database"
	}
	layout, ok := layouts[o.Profile]
	if !ok {
		return Import{}, fmt.Errorf("import: %w: found %q, expected database, native or release", ErrProfile, o.Profile)
	}
	format := o.Format
	b.out = Import{
		Samples: map[int32]*records.Samples{},
		Run: records.Run{
			SchemaVersion: records.SchemaVersion, ToolVersion: o.ToolVersion, Study: o.Study, Profile: o.Profile, Layout: layout,
			Origin: origin, ImportFormat: &format, Order: records.RunOrder{Kind: "imported"}, Lock: "incomplete",
			LockGaps: []string{"imported: the programs that were measured were not hashed"},
		},
	}
	if o.Plan != nil {
		b.fromPlan(o.Plan)
	}
	steps := []func() error{b.arms, b.suites, b.typeFactors, b.cells, b.processes}
	for _, step := range steps {
		if err := step(); err != nil {
			return Import{}, err
		}
	}
	return b.out, nil
}

type builder struct {
	file    string
	table   result.Table
	options Options
	out     Import
	// cellOf maps suite and factors to an index into out.Cells.
	cellOf map[string]int
}

func (b *builder) fail(line int, format string, args ...any) error {
	return &result.Error{File: b.file, Line: line, Problem: fmt.Sprintf(format, args...)}
}

func (b *builder) fromPlan(p *plan.Plan) {
	b.out.Plan = p.Source
	run := &b.out.Run
	run.Study, run.Title, run.Profile, run.Layout, run.PlanSHA256 = p.Study, p.Title, p.Profile, p.Layout, p.SHA256
	run.Rounds = p.Rounds
}

func (b *builder) arms() error {
	names := b.table.Arms
	labels := [2]map[string]string{}
	if p := b.options.Plan; p != nil {
		for i, a := range p.Arms {
			names[i], labels[i] = a.Name, a.Label
		}
	}
	for _, o := range b.table.Observations {
		for i := range names {
			if names[i] == "" {
				names[i] = o.Process.Arm
			}
			if names[i] == o.Process.Arm {
				break
			}
		}
		if o.Process.Arm != names[0] && o.Process.Arm != names[1] {
			return b.fail(o.Line, "arm: found %q, expected %q or %q", o.Process.Arm, names[0], names[1])
		}
	}
	if names[1] == "" {
		return b.fail(0, "arm: found only %q, expected two arms", names[0])
	}
	for i, side := range records.Sides {
		b.out.Run.Arms[i] = records.RunArm{Side: side, Name: names[i], Label: labels[i]}
	}
	return nil
}

// suites lists the suites in order of appearance, with the plan's words where
// there is one.
func (b *builder) suites() error {
	planned := map[string]records.RunSuite{}
	if p := b.options.Plan; p != nil {
		for _, s := range p.Suites {
			planned[s.ID] = RunSuite(s)
			for _, c := range s.Cells {
				b.cellOf[cellKey(s.ID, c.Factors)] = len(b.out.Cells)
				b.out.Cells = append(b.out.Cells, c.Cell)
			}
		}
	}
	seen := map[string]bool{}
	for _, o := range b.table.Observations {
		if seen[o.Suite] {
			continue
		}
		seen[o.Suite] = true
		suite, ok := planned[o.Suite]
		if b.options.Plan != nil && !ok {
			return b.fail(o.Line, "suite: found %q, which the plan %s does not have", o.Suite, b.options.Plan.Study)
		}
		if !ok {
			suite = records.RunSuite{ID: o.Suite, Workload: "imported", Metrics: b.table.Metrics}
		}
		suite.Service = nil
		b.out.Run.Suites = append(b.out.Run.Suites, suite)
	}
	kept := b.out.Cells[:0]
	index := map[string]int{}
	for _, c := range b.out.Cells {
		if seen[c.Suite] {
			index[cellKey(c.Suite, c.Factors)] = len(kept)
			kept = append(kept, c)
		}
	}
	b.out.Cells, b.cellOf = kept, index
	return nil
}

// typeFactors gives each factor of a suite the narrowest kind that all its
// values have.
func (b *builder) typeFactors() error {
	for s := range b.out.Run.Suites {
		suite := &b.out.Run.Suites[s]
		kinds := map[string]records.FactorKind{}
		for _, f := range suite.Factors {
			kinds[f.Name] = f.Kind
		}
		if b.options.Plan == nil {
			var names []string
			for _, o := range b.table.Observations {
				if o.Suite != suite.ID {
					continue
				}
				for _, f := range o.Factors {
					kind := kindOf(f.Value)
					if old, ok := kinds[f.Name]; !ok {
						names = append(names, f.Name)
						kinds[f.Name] = kind
					} else {
						kinds[f.Name] = wider(old, kind)
					}
				}
			}
			for _, name := range names {
				suite.Factors = append(suite.Factors, records.RunFactor{Name: name, Kind: kinds[name], Unit: unitOf(name)})
			}
			if len(names) > 2 {
				suite.Panel = names[:len(names)-2]
			}
		}
		for i := range b.table.Observations {
			o := &b.table.Observations[i]
			if o.Suite != suite.ID {
				continue
			}
			for j, f := range o.Factors {
				kind, known := kinds[f.Name]
				if !known {
					return b.fail(o.Line, "column %s: the plan has no such factor in suite %s, and no process column has this name", f.Name, suite.ID)
				}
				v, ok := convert(f.Value, kind)
				if !ok {
					return b.fail(o.Line, "%s: found %q, expected a value of type %s", f.Name, f.Value, kind)
				}
				o.Factors[j].Value = v
			}
		}
	}
	return nil
}

func (b *builder) cells() error {
	byID := map[string]string{}
	for _, c := range b.out.Cells {
		byID[c.Suite+"\x00"+c.CellID] = cellKey(c.Suite, c.Factors)
	}
	for i := range b.table.Observations {
		o := &b.table.Observations[i]
		if b.options.Plan != nil {
			// A cell is named by its factors, by its id, or by both alike.
			full := b.withConstants(o)
			key := cellKey(o.Suite, full)
			if len(o.Factors) == 0 && o.CellID != "" {
				key = byID[o.Suite+"\x00"+o.CellID]
			}
			at, ok := b.cellOf[key]
			if !ok {
				return b.fail(o.Line, "found no cell of suite %s with %s in the plan", o.Suite, describe(o))
			}
			o.CellID = b.out.Cells[at].CellID
			continue
		}
		if o.CellID == "" {
			o.CellID = describe(o)
		}
		key := o.Suite + "\x00" + o.CellID
		if known, ok := byID[key]; ok {
			if known != cellKey(o.Suite, o.Factors) {
				return b.fail(o.Line, "cell_id: %q has other factors in an earlier row", o.CellID)
			}
			continue
		}
		byID[key] = cellKey(o.Suite, o.Factors)
		b.out.Cells = append(b.out.Cells, records.Cell{CellID: o.CellID, Suite: o.Suite, Factors: o.Factors, OperationsPerSample: 1})
	}
	return nil
}

// withConstants adds the factors that the plan holds constant in this suite and
// the row leaves out, and brings them into the plan's order.
func (b *builder) withConstants(o *result.Observation) []records.Factor {
	for _, s := range b.options.Plan.Suites {
		if s.ID != o.Suite || len(s.Cells) == 0 {
			continue
		}
		given := map[string]records.FactorValue{}
		for _, f := range o.Factors {
			given[f.Name] = f.Value
		}
		constant := map[string]bool{}
		for _, f := range s.Factors {
			constant[f.Name] = f.Constant
		}
		var full []records.Factor
		for _, f := range s.Cells[0].Factors {
			v, ok := given[f.Name]
			if !ok && constant[f.Name] {
				v, ok = f.Value, true
			}
			if ok {
				full = append(full, records.Factor{Name: f.Name, Value: v})
			}
		}
		return full
	}
	return o.Factors
}

func (b *builder) processes() error {
	type place struct {
		suite, cell, arm string
		round            int32
	}
	taken := map[place]int{}
	pairs := map[place]int32{} // slot of the pair's first process, arm left empty
	for i := range b.table.Observations {
		o := &b.table.Observations[i]
		p := o.Process
		at := place{o.Suite, o.CellID, p.Arm, p.Round}
		if line, ok := taken[at]; ok {
			return b.fail(o.Line, "found suite %s, cell %s, arm %s, round %d again; it stands in line %d already", o.Suite, o.CellID, p.Arm, p.Round, line)
		}
		taken[at] = o.Line
		p.ProcessNo, p.Slot = int32(i+1), int32(i+1)
		p.Suite, p.CellID = o.Suite, o.CellID
		p.ProcessID = fmt.Sprintf("%s/%s/%s/%d", p.Suite, p.CellID, p.Arm, p.Round)
		p.Side = records.SideA
		if p.Arm == b.out.Run.Arms[1].Name {
			p.Side = records.SideB
		}
		at.arm = ""
		_, second := pairs[at]
		p.FirstInPair = !second
		pairs[at] = p.Slot
		if p.Argv == "" {
			p.Argv = "[]"
		}
		if p.CPUNs != nil && p.CPUWallNs == nil && p.ElapsedNs != nil {
			// Without a span of its own the CPU time is that of the interval.
			p.CPUWallNs = p.ElapsedNs
			scope := records.CPUScopeInterval
			p.CPUScope = &scope
		}
		if p.PeakRSSBytes != nil && p.PeakRSSSource == nil {
			stated := "stated"
			p.PeakRSSSource = &stated
		}
		if o.Samples != nil {
			o.Samples.ProcessNo = p.ProcessNo
			b.out.Samples[p.ProcessNo] = o.Samples
			n := int64(o.Samples.Len())
			p.SampleCount = &n
			b.out.Run.Samples += n
		}
		if p.Outcome != records.OutcomeOK {
			b.out.Run.FailedProcesses++
		}
		b.out.Run.Rounds = max(b.out.Run.Rounds, int(p.Round))
		b.span(p)
		b.out.Processes = append(b.out.Processes, p)
	}
	b.out.Run.Processes = len(b.out.Processes)
	b.out.Run.PlannedProcesses = len(b.out.Processes)
	return nil
}

// span extends the time of the run to that of a process, where a file says when
// it ran.
func (b *builder) span(p records.Process) {
	if p.StartedAt == nil {
		return
	}
	run, start, end := &b.out.Run, *p.StartedAt, *p.StartedAt
	if p.ElapsedNs != nil {
		end = end.Add(time.Duration(*p.ElapsedNs))
	}
	if run.StartedAt.IsZero() || start.Before(run.StartedAt) {
		run.StartedAt = start
	}
	if end.After(run.EndedAt) {
		run.EndedAt = end
	}
}

// RunSuite is what a bundle keeps of a suite of a plan.
func RunSuite(s plan.Suite) records.RunSuite {
	return records.RunSuite{
		ID: s.ID, Title: s.Title, Profile: s.Profile, Workload: s.Workload, Panel: s.Panel, Factors: s.Factors,
		Metrics: s.Metrics, CPUScope: s.CPUScope, CPUCovers: s.CPUCovers, LatencyCovers: s.LatencyCovers, Notes: s.Notes,
	}
}

func cellKey(suite string, factors []records.Factor) string {
	parts := make([]string, 0, len(factors)+1)
	for _, f := range factors {
		parts = append(parts, strconv.Quote(f.Name)+"="+strconv.Quote(f.Value.String()))
	}
	sort.Strings(parts)
	return suite + "\x00" + strings.Join(parts, ",")
}

// describe writes a cell's factors as its id: payload_bytes=64/cadence=1ms.
func describe(o *result.Observation) string {
	if len(o.Factors) == 0 {
		if o.CellID != "" {
			return o.CellID
		}
		return "all"
	}
	parts := make([]string, 0, len(o.Factors))
	for _, f := range o.Factors {
		parts = append(parts, f.Name+"="+f.Value.String())
	}
	return strings.Join(parts, "/")
}

func unitOf(name string) string {
	for _, suffix := range []struct{ ends, unit string }{{"_bytes", "bytes"}, {"_ns", "ns"}} {
		if strings.HasSuffix(name, suffix.ends) {
			return suffix.unit
		}
	}
	return ""
}

// kindOf is the narrowest kind that the text of v can be read as.
func kindOf(v records.FactorValue) records.FactorKind {
	if v.Kind != records.FactorString {
		return v.Kind
	}
	for _, kind := range []records.FactorKind{records.FactorInt, records.FactorFloat, records.FactorBool} {
		if _, ok := convert(v, kind); ok {
			return kind
		}
	}
	return records.FactorString
}

func wider(a, b records.FactorKind) records.FactorKind {
	switch {
	case a == b:
		return a
	case a == records.FactorInt && b == records.FactorFloat, a == records.FactorFloat && b == records.FactorInt:
		return records.FactorFloat
	default:
		return records.FactorString
	}
}

// convert reads v as a value of the kind; a value is written back as it was
// read, so that 007 stays a word.
func convert(v records.FactorValue, kind records.FactorKind) (records.FactorValue, bool) {
	if v.Kind == kind {
		return v, true
	}
	text := v.String()
	var out records.FactorValue
	switch kind {
	case records.FactorInt:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return v, false
		}
		out = records.IntFactor(n)
	case records.FactorFloat:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f-f != 0 {
			return v, false
		}
		return records.FloatFactor(f), true
	case records.FactorBool:
		if text != "true" && text != "false" {
			return v, false
		}
		out = records.BoolFactor(text == "true")
	default:
		return records.StringFactor(text), true
	}
	return out, out.String() == text
}
