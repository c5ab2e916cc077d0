package analyze

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pairbench/analyze/report"
	"pairbench/records"
)

// Arm names an arm of a bundle.
type Arm struct {
	Bundle string // path of the bundle
	Name   string // the arm's name in its plan, or its side, A or B
}

// ParseArm reads BUNDLE:ARM; the arm stands after the last colon.
func ParseArm(s string) (Arm, error) {
	at := strings.LastIndex(s, ":")
	if at <= 0 || at == len(s)-1 {
		return Arm{}, fmt.Errorf("arm %q: expected BUNDLE:ARM", s)
	}
	return Arm{s[:at], s[at+1:]}, nil
}

var (
	// ErrNoArm is returned for an arm that the bundle does not have.
	ErrNoArm = errors.New("no arm")
	// ErrNothingShared is returned for two arms of which no cell has both.
	ErrNothingShared = errors.New("no cell in common")
)

func (in *input) side(arm string) (records.Side, error) {
	for _, a := range in.run.Arms {
		if a.Name == arm || string(a.Side) == arm {
			return a.Side, nil
		}
	}
	return "", fmt.Errorf("analyze %s: %w %q: it has %q and %q", in.name, ErrNoArm, arm, in.run.Arms[0].Name, in.run.Arms[1].Name)
}

// separate puts an arm of one bundle beside an arm of another. Cells are
// matched by suite and id. Nothing in it is paired, and where the circumstances
// differ the study says that it is not comparable.
func separate(a, b *input, armA, armB string) (*study, error) {
	var sides [2]records.Side
	for i, in := range []*input{a, b} {
		if err := in.check(); err != nil {
			return nil, err
		}
		side, err := in.side([]string{armA, armB}[i])
		if err != nil {
			return nil, err
		}
		sides[i] = side
	}
	// The report's run is that of A, with the chosen arms under the two sides.
	merged := *a
	merged.run.Arms = [2]records.RunArm{arm(a, sides[0]), arm(b, sides[1])}
	merged.run.Arms[0].Side, merged.run.Arms[1].Side = records.SideA, records.SideB
	if merged.run.Arms[0].Name == merged.run.Arms[1].Name {
		merged.run.Arms[0].Name += " (" + a.name + ")"
		merged.run.Arms[1].Name += " (" + b.name + ")"
	}
	merged.run.AA = false
	st := &study{inputs: []*input{&merged, b}, notPaired: true}
	st.notes = append(st.notes, report.Note{Code: report.NoteNotPaired, Values: []string{"separate_collections"}})
	if differs := differences(a, b); len(differs) > 0 {
		st.notes = append(st.notes, report.Note{Code: report.NoteNotComparable, Values: differs})
	}
	suites, cells := map[string]*suite{}, map[cellKey]*cell{}
	for i, in := range []*input{a, b} {
		for _, s := range in.run.Suites {
			if suites[s.ID] == nil {
				suites[s.ID] = &suite{run: s}
			}
		}
		for _, c := range in.cells {
			key := cellKey{c.Suite, c.CellID}
			if cells[key] == nil {
				s := suites[c.Suite]
				if len(s.cells) == 0 {
					st.suites = append(st.suites, s)
				}
				cells[key] = &cell{Cell: c}
				s.cells = append(s.cells, cells[key])
			}
		}
		processes := slices.Clone(in.processes)
		slices.SortStableFunc(processes, func(x, y records.Process) int { return cmp.Compare(x.Slot, y.Slot) })
		for j := range processes {
			p := &processes[j]
			if p.Side == sides[i] {
				c := cells[cellKey{p.Suite, p.CellID}]
				c.processes = append(c.processes, &process{Process: p, in: in, bundle: i, round: p.Round, side: records.Sides[i]})
			}
		}
	}
	if !st.comparable() {
		return nil, fmt.Errorf("analyze %s: %w with %s: its first is %s, there it is %s",
			a.name, ErrNothingShared, b.name, firstCell(a), firstCell(b))
	}
	return st, nil
}

// comparable reports whether some cell has processes of both sides.
func (st *study) comparable() bool {
	for _, s := range st.suites {
		for _, c := range s.cells {
			var has [2]bool
			for _, p := range c.processes {
				has[slices.Index(records.Sides[:], p.side)] = true
			}
			if has[0] && has[1] {
				return true
			}
		}
	}
	return false
}

func firstCell(in *input) string {
	if len(in.cells) == 0 {
		return "none"
	}
	return cellKey{in.cells[0].Suite, in.cells[0].CellID}.String()
}

func arm(in *input, side records.Side) records.RunArm {
	if side == records.SideA {
		return in.run.Arms[0]
	}
	return in.run.Arms[1]
}

// differences names what two bundles do not share and should, for their arms
// to be compared.
func differences(a, b *input) []string {
	var differs []string
	if a.hostIdentity() != b.hostIdentity() {
		differs = append(differs, "host")
	}
	if a.run.PlanSHA256 != b.run.PlanSHA256 {
		differs = append(differs, "plan")
	}
	services := func(in *input) string {
		var parts []string
		for _, s := range in.run.Suites {
			if v := s.Service; v != nil {
				parts = append(parts, strings.Join([]string{s.ID, v.Kind, v.Mode, v.Version, v.CPUs}, " "))
			}
		}
		return strings.Join(parts, "\n")
	}
	if services(a) != services(b) {
		differs = append(differs, "services")
	}
	return differs
}
