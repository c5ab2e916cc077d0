package importer

import (
	"fmt"
	"path/filepath"
	"strings"

	"pairbench/collect/importer/result"
	"pairbench/records"
)

// Pair makes arm A of the results of some files and arm B of those of others.
// Results of one cell are rounds, in the order of the files. Cells that only one
// arm has stay, and are listed as warnings; no cell in common is an error. Where
// each arm is one file, and these are called differently, that names the arms.
func Pair(a, b []result.Source, tablesA, tablesB []result.Table) (result.Table, error) {
	out := result.Table{Arms: [2]string{"A", "B"}, NamedByTarget: true}
	if len(a) == 1 && len(b) == 1 {
		out.Arms = armNames(a[0].Name, b[0].Name)
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
	matched, only := 0, [2]string{}
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
		t.Warnings = t.Warnings[:len(t.Warnings)-2]
		t.Warn("matched the only result of each: %s in arm %s is %s in arm %s", only[0], t.Arms[0], only[1], t.Arms[1])
		takeFactorsOfA(t)
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

// takeFactorsOfA gives the results of B the cell of A.
func takeFactorsOfA(t *result.Table) {
	var cell []records.Factor
	for i := range t.Observations {
		o := &t.Observations[i]
		if cell == nil {
			cell = o.Factors
		}
		o.Factors = cell
	}
}

// armNames are the bases of two file names without extensions, or A and B.
func armNames(a, b string) [2]string {
	stem := func(name string) string {
		name = filepath.Base(name)
		for _, ext := range []string{".gz", ".json", ".csv", ".txt", ".log", ".out"} {
			name = strings.TrimSuffix(name, ext)
		}
		return name
	}
	names := [2]string{stem(a), stem(b)}
	if names[0] == names[1] || names[0] == "" || names[1] == "" {
		return [2]string{"A", "B"}
	}
	return names
}
