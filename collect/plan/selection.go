package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pairbench/records"
)

// Select returns the part of the plan that a selection asks for; p itself stays
// as it is. Source and SHA256 remain those of the whole file. The error is a
// *SelectionError.
func (p *Plan) Select(sel Selection) (*Plan, error) {
	out := *p
	out.Suites = slices.Clone(p.Suites)
	steps := []func(*Plan, Selection) error{selectSuites, selectServices, selectCells, selectRounds, selectScale, selectShard}
	for _, step := range steps {
		if err := step(&out, sel); err != nil {
			return nil, err
		}
	}
	if sel.Seed != nil {
		seed := *sel.Seed
		out.Order.Seed = &seed
		if out.Order.Kind != "shuffle" {
			return nil, &SelectionError{"seed", "the order " + out.Order.Kind, "a plan with the order shuffle"}
		}
	}
	return &out, nil
}

func selectSuites(p *Plan, sel Selection) error {
	if len(sel.Suites) == 0 {
		return nil
	}
	var known []string
	for _, s := range p.Suites {
		known = append(known, s.ID)
	}
	for _, id := range sel.Suites {
		if !slices.Contains(known, id) {
			return &SelectionError{"suite", quote(id), "one of " + strings.Join(known, ", ")}
		}
	}
	p.Suites = slices.DeleteFunc(p.Suites, func(s Suite) bool { return !slices.Contains(sel.Suites, s.ID) })
	return nil
}

func selectServices(p *Plan, sel Selection) error {
	used := make(map[string]bool)
	var known []string
	for i := range p.Suites {
		s := p.Suites[i].Service
		if s == nil {
			continue
		}
		if !slices.Contains(known, s.Name) {
			known = append(known, s.Name)
		}
		choice, ok := sel.Services[s.Name]
		if !ok {
			continue
		}
		used[s.Name] = true
		changed := *s
		switch {
		case choice == "managed" || choice == "embedded":
			if !slices.Contains(serviceModes[s.Kind], choice) {
				return &SelectionError{"service", s.Name + "=" + choice, "one of " + strings.Join(serviceModes[s.Kind], ", ") + " for " + s.Kind}
			}
			changed.Mode, changed.Address = choice, ""
		case validAddress(choice):
			changed.Mode, changed.Address = "external", choice
		default:
			return &SelectionError{"service", s.Name + "=" + quote(choice), "managed, embedded or host:port"}
		}
		p.Suites[i].Service = &changed
	}
	for name := range sel.Services {
		if !used[name] {
			expected := "a service of the selected suites, which have none"
			if len(known) > 0 {
				expected = "one of " + strings.Join(known, ", ")
			}
			return &SelectionError{"service", quote(name), expected}
		}
	}
	return nil
}

func selectCells(p *Plan, sel Selection) error {
	if sel.Cells == "" {
		return nil
	}
	var example string
	for i := range p.Suites {
		if len(p.Suites[i].Cells) > 0 && example == "" {
			example = p.Suites[i].Cells[0].CellID
		}
		p.Suites[i].Cells = slices.DeleteFunc(slices.Clone(p.Suites[i].Cells), func(c Cell) bool {
			return !Match(sel.Cells, c.CellID)
		})
	}
	dropEmpty(p)
	if len(p.Suites) == 0 {
		return &SelectionError{"cells", quote(sel.Cells), "a pattern that matches a cell id such as " + example}
	}
	return nil
}

// Match reports whether a cell id fits a pattern in which * stands for any run
// of characters, slashes too, and ? for one.
func Match(pattern, id string) bool {
	star, mark := -1, 0
	i, k := 0, 0
	for k < len(id) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, mark = i, k
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == id[k]):
			i++
			k++
		case star >= 0:
			mark++
			i, k = star+1, mark
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}

func dropEmpty(p *Plan) {
	p.Suites = slices.DeleteFunc(p.Suites, func(s Suite) bool { return len(s.Cells) == 0 })
}

func selectRounds(p *Plan, sel Selection) error {
	switch {
	case sel.Rounds < 0 || sel.Rounds > 1000:
		return &SelectionError{"rounds", itoa(sel.Rounds), "a number from 1 to 1000"}
	case sel.Rounds > 0:
		p.Rounds = sel.Rounds
	}
	total := 0
	for _, s := range p.Suites {
		total += len(s.Cells) * p.Rounds * 2
	}
	if total > maxStarts {
		return &SelectionError{"rounds", fmt.Sprintf("%d processes", total), fmt.Sprintf("at most %d", maxStarts)}
	}
	return nil
}

func selectScale(p *Plan, sel Selection) error {
	if sel.Scale == 0 || sel.Scale == 1 {
		return nil
	}
	if !(sel.Scale > 0) || sel.Scale > 1e6 {
		return &SelectionError{"scale", fmt.Sprint(sel.Scale), "a number above 0 and at most 1e6"}
	}
	for i := range p.Suites {
		p.Suites[i].Cells = slices.Clone(p.Suites[i].Cells)
		for k := range p.Suites[i].Cells {
			c := &p.Suites[i].Cells[k]
			c.Measure = c.Measure.scaled(sel.Scale, c.OperationsPerSample)
			c.Warmup = c.Warmup.scaled(sel.Scale, c.OperationsPerSample)
			c.plan()
		}
	}
	return nil
}

// scaled multiplies an amount and keeps it whole: at least one batch, and at
// least a microsecond. None stays none.
func (a Amount) scaled(f float64, batch int64) Amount {
	if a.Operations > 0 {
		batches := math.Round(float64(a.Operations) / float64(batch) * f)
		a.Operations = batch * int64(max(1, min(batches, float64(math.MaxInt64/4)/float64(batch))))
	}
	if a.Duration > 0 {
		a.Duration = max(time.Microsecond, time.Duration(min(float64(a.Duration)*f, float64(24*time.Hour))))
	}
	return a
}

// selectShard keeps every Count-th cell, counted over all suites, so that the
// shards are of like size and a pair is never torn.
func selectShard(p *Plan, sel Selection) error {
	if sel.Shard == nil {
		return nil
	}
	index, count := sel.Shard.Index, sel.Shard.Count
	if count < 1 || index < 1 || index > count {
		return &SelectionError{"shard", fmt.Sprintf("%d/%d", index, count), "i/N with i from 1 to N"}
	}
	n := 0
	for i := range p.Suites {
		p.Suites[i].Cells = slices.DeleteFunc(slices.Clone(p.Suites[i].Cells), func(Cell) bool {
			n++
			return (n-1)%count != index-1
		})
	}
	dropEmpty(p)
	if len(p.Suites) == 0 {
		return &SelectionError{"shard", fmt.Sprintf("%d/%d", index, count), fmt.Sprintf("at most as many shards as cells, %d", n)}
	}
	return nil
}

// Flags returns the selection as name and value for the record of a run; empty
// when it changes nothing.
func (sel Selection) Flags() map[string]string {
	out := make(map[string]string)
	if len(sel.Suites) > 0 {
		out["suite"] = strings.Join(sel.Suites, ",")
	}
	if sel.Cells != "" {
		out["cells"] = sel.Cells
	}
	if sel.Rounds != 0 {
		out["rounds"] = itoa(sel.Rounds)
	}
	if sel.Scale != 0 && sel.Scale != 1 {
		out["scale"] = records.FloatFactor(sel.Scale).String()
	}
	if sel.Seed != nil {
		out["seed"] = fmt.Sprint(*sel.Seed)
	}
	if sel.Shard != nil {
		out["shard"] = fmt.Sprintf("%d/%d", sel.Shard.Index, sel.Shard.Count)
	}
	if len(sel.Services) > 0 {
		var parts []string
		for name, choice := range sel.Services {
			parts = append(parts, name+"="+choice)
		}
		slices.Sort(parts)
		out["service"] = strings.Join(parts, ",")
	}
	return out
}
