package analyze

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"pairbench/analyze/metric"
	"pairbench/analyze/report"
	"pairbench/records"
)

// study is what the bundles of one analysis hold together.
type study struct {
	inputs []*input // by identity
	suites []*suite
	// notPaired says that the sides come from separate collections: rounds
	// then pair nothing.
	notPaired bool
	notes     []report.Note
}

// suite is one suite with its cells in the order of the plan.
type suite struct {
	run   records.RunSuite
	cells []*cell
	// metrics are those that at least one process has a value for.
	metrics []metric.Metric
}

// cell is one cell with its processes of both sides.
type cell struct {
	records.Cell
	processes []*process // in the order of execution
}

// process is one process with what was computed from it alone.
type process struct {
	*records.Process
	in      *input
	bundle  int // index into study.inputs
	round   int32
	side    records.Side
	values  []*big.Rat // one for each of metric.All
	samples sampleFacts
}

func (p *process) ok() bool { return p.Outcome == records.OutcomeOK }

// position orders cells as the plan does: a shard holds every count-th cell.
func position(in *input, index int) int {
	if in.run.Shard == nil {
		return index
	}
	return index*in.run.Shard.Count + in.run.Shard.Index - 1
}

// join puts bundles of one plan together. Each cell comes from one bundle, or
// from repeated collections on one host, whose rounds are then counted on.
func join(inputs []*input) (*study, error) {
	sortInputs(inputs)
	for i, in := range inputs {
		if err := in.check(); err != nil {
			return nil, err
		}
		if i == 0 {
			continue
		}
		if err := joinable(inputs[0], in, inputs[i-1]); err != nil {
			return nil, err
		}
	}
	st := &study{inputs: inputs}
	// Repeated collections count their rounds in the order in which they began.
	order := make([]int, len(inputs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return inputs[a].run.StartedAt.Compare(inputs[b].run.StartedAt) })

	type placed struct {
		*cell
		position int
		in       *input
		rounds   int32
	}
	cells, suites := map[cellKey]*placed{}, map[string]*suite{}
	var all []*placed
	for _, b := range order {
		in := inputs[b]
		for _, s := range in.run.Suites {
			if suites[s.ID] == nil {
				suites[s.ID] = &suite{run: s}
			}
		}
		offset := map[cellKey]int32{}
		for i, c := range in.cells {
			key := cellKey{c.Suite, c.CellID}
			if known := cells[key]; known != nil {
				if here, there := hostDifference(in, known.in); here != there {
					return nil, fmt.Errorf("analyze %s: %w: cell %s was measured on another host too, and hosts are never pooled: %s has %s, %s has %s",
						in.name, ErrNotJoinable, key, in.name, here, known.in.name, there)
				}
				offset[key] = known.rounds
				continue
			}
			cells[key] = &placed{cell: &cell{Cell: c}, position: position(in, i), in: in}
			all = append(all, cells[key])
		}
		processes := make([]*process, 0, len(in.processes))
		for i := range in.processes {
			p := &in.processes[i]
			processes = append(processes, &process{Process: p, in: in, bundle: b, side: p.Side})
		}
		slices.SortStableFunc(processes, func(a, b *process) int {
			return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.ProcessNo, b.ProcessNo))
		})
		for _, p := range processes {
			c := cells[cellKey{p.Suite, p.CellID}]
			p.round = p.Round + offset[cellKey{p.Suite, p.CellID}]
			c.rounds = max(c.rounds, p.round)
			c.processes = append(c.processes, p)
		}
	}
	slices.SortStableFunc(all, func(a, b *placed) int { return cmp.Compare(a.position, b.position) })
	for _, c := range all {
		s := suites[c.Suite]
		if len(s.cells) == 0 {
			st.suites = append(st.suites, s)
		}
		s.cells = append(s.cells, c.cell)
	}
	return st, nil
}

// joinable checks that a bundle belongs to the same study as the first one.
func joinable(first, in, previous *input) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("analyze %s: %w: %s", in.name, ErrNotJoinable, fmt.Sprintf(format, args...))
	}
	switch {
	case in.identity == previous.identity:
		return fail("it is the same bundle as %s", previous.name)
	case in.run.Origin == "imported" || first.run.Origin == "imported":
		return fail("what ran in an imported bundle is not known, so that none is joined; import all files into one")
	case in.run.PlanSHA256 != first.run.PlanSHA256:
		return fail("its plan has the hash %.12s, that of %s %.12s", in.run.PlanSHA256, first.name, first.run.PlanSHA256)
	case in.run.AA != first.run.AA:
		return fail("only one of it and %s is an A/A collection", first.name)
	}
	for i, side := range records.Sides {
		if in.run.Arms[i].Name != first.run.Arms[i].Name {
			return fail("its side %s is %q, that of %s %q", side, in.run.Arms[i].Name, first.name, first.run.Arms[i].Name)
		}
		if a, b := in.armLock(side), first.armLock(side); a != b {
			return fail("its programs of side %s have other hashes than those of %s", side, first.name)
		}
	}
	return nil
}
