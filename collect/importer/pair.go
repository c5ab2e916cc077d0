package importer

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pairbench/collect/importer/result"
	"pairbench/records"
)

// Pair makes arm A of the results of some files and arm B of those of others.
// Results of one cell are rounds, in the order of the files. Cells that only one
// arm has stay, and are listed as warnings; no cell in common is an error. Where
// each arm is one file, and these or the results picked from them are called
// differently, that names the arms.
func Pair(a, b []result.Source, tablesA, tablesB []result.Table) (result.Table, error) {
	out := result.Table{Arms: [2]string{"A", "B"}, NamedByTarget: true}
	if len(a) == 1 && len(b) == 1 {
		out.Arms = armNames(cmp.Or(tablesA[0].Picked, stem(a[0].Name)), cmp.Or(tablesB[0].Picked, stem(b[0].Name)))
	}
	for i, tables := range [2][]result.Table{tablesA, tablesB} {
		rounds := map[string]int32{}
		for _, t := range tables {
			out.Metrics = t.Metrics
			out.NamedByTarget = out.NamedByTarget && t.NamedByTarget
			out.Warnings = append(out.Warnings, t.Warnings...)
			for _, o := range t.Observations {
				key := cellKey(o.Suite, o.Factors)
				rounds[key]++
				o.Process.Arm, o.Process.Round = out.Arms[i], rounds[key]
				out.Observations = append(out.Observations, o)
			}
		}
	}
	return out, match(&out, fmt.Sprintf("%s and %s", a[0].Name, b[0].Name))
}

// match lists the cells that only one arm has.
func match(t *result.Table, files string) error {
	var names [2][]string
	where := map[string][2]bool{}
	for _, o := range t.Observations {
		i := 0
		if o.Process.Arm == t.Arms[1] {
			i = 1
		}
		key := cellKey(o.Suite, o.Factors)
		has := where[key]
		if !has[i] {
			names[i] = append(names[i], key)
		}
		has[i] = true
		where[key] = has
	}
	matched, only, said := 0, [2]string{}, len(t.Warnings)
	for _, key := range names[0] {
		if where[key][1] {
			matched++
		}
	}
	listed := map[string]bool{}
	for _, o := range t.Observations {
		key := cellKey(o.Suite, o.Factors)
		has := where[key]
		if has[0] && has[1] || listed[key] {
			continue
		}
		listed[key] = true
		side := 0
		if has[1] {
			side = 1
		}
		only[side] = describe(&o)
		t.Warn("unmatched: %s is only in arm %s", describe(&o), t.Arms[side])
	}
	if matched > 0 {
		return nil
	}
	if len(names[0]) == 1 && len(names[1]) == 1 && t.NamedByTarget {
		t.Warnings = t.Warnings[:said]
		t.Warn("matched the only result of each: %s in arm %s is %s in arm %s", only[0], t.Arms[0], only[1], t.Arms[1])
		joinFactors(t)
		return nil
	}
	return &result.Error{File: files, Problem: fmt.Sprintf("found no result with the same name in both, expected one or more; A has %s, B has %s", firstOf(t, 0), firstOf(t, 1))}
}

func firstOf(t *result.Table, arm int) string {
	for _, o := range t.Observations {
		if o.Process.Arm == t.Arms[arm] {
			return result.Quote(describe(&o))
		}
	}
	return "none"
}

// joinFactors gives both arms one cell: what they have in common, and where they
// differ both values, A → B.
func joinFactors(t *result.Table) {
	var ofArm [2][]records.Factor
	for _, o := range t.Observations {
		i := 0
		if o.Process.Arm == t.Arms[1] {
			i = 1
		}
		ofArm[i] = o.Factors
	}
	cell := slices.Clone(ofArm[0])
	for i, f := range cell {
		for _, other := range ofArm[1] {
			if a, b := f.Value.String(), other.Value.String(); other.Name == f.Name && a != b {
				cell[i] = result.Word(f.Name, a+" → "+b)
			}
		}
	}
	for i := range t.Observations {
		t.Observations[i].Factors = cell
	}
}

// armNames are two names, or A and B where these tell nothing apart.
func armNames(a, b string) [2]string {
	if a == b || a == "" || b == "" {
		return [2]string{"A", "B"}
	}
	return [2]string{a, b}
}

// stem is the base of a file's name without extensions.
func stem(name string) string {
	name = filepath.Base(name)
	for _, ext := range []string{".gz", ".json", ".csv", ".txt", ".log", ".out"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// Pick keeps the results of that name: what the first factor says, a command or
// a benchmark, or all factors as a warning writes them. What was picked for arm A
// is the partner of what was picked for arm B, whatever they are called.
func Pick(t result.Table, file, name string) (result.Table, error) {
	var names []string
	all := t.Observations
	t.Observations, t.Picked, t.NamedByTarget = nil, name, true
	for _, o := range all {
		called := describe(&o)
		first := called
		if len(o.Factors) > 0 {
			first = o.Factors[0].Value.String()
		}
		if name == first || name == called {
			t.Observations = append(t.Observations, o)
		} else if quoted := result.Quote(first); !slices.Contains(names, quoted) && len(names) < 10 {
			names = append(names, quoted)
		}
	}
	if len(t.Observations) == 0 {
		return t, &result.Error{File: file, Problem: fmt.Sprintf("found no result %s, expected one of %s", result.Quote(name), strings.Join(names, ", "))}
	}
	return t, nil
}
