package hashlock

import (
	"fmt"
	"sort"

	"pairbench/records"
)

// diffKey says which rows of two locks are the same thing. The path is left out:
// a name that resolves to another file is a change, not a loss and a gain.
type diffKey struct {
	kind, name, side, requiredBy string
	nth                          int // among rows that agree in all of the above
}

// keysOf returns the key of each row.
func keysOf(inputs []records.Input) []diffKey {
	keys := make([]diffKey, len(inputs))
	seen := map[diffKey]int{}
	for i, in := range inputs {
		k := diffKey{kind: in.Kind, name: in.Name}
		if in.Side != nil {
			k.side = *in.Side
		}
		if in.RequiredBy != nil {
			k.requiredBy = *in.RequiredBy
		}
		seen[k]++
		keys[i] = k
		keys[i].nth = seen[k]
	}
	return keys
}

// Diff names every difference between two locks of the same roots, one line
// each, sorted; empty means that a collection may go on. Files that were found
// in running processes are left out: they are found again when they are opened.
func Diff(before, now []records.Input) []string {
	before, now = resolved(before), resolved(now)
	rest := map[diffKey]records.Input{}
	for i, key := range keysOf(now) {
		rest[key] = now[i]
	}
	var lines []string
	for i, key := range keysOf(before) {
		found, ok := rest[key]
		if !ok {
			lines = append(lines, describe(before[i])+": no longer there")
			continue
		}
		delete(rest, key)
		if change := difference(before[i], found); change != "" {
			lines = append(lines, describe(before[i])+": "+change)
		}
	}
	for _, in := range rest {
		lines = append(lines, describe(in)+": was not there before")
	}
	sort.Strings(lines)
	return lines
}

// resolved returns the rows that a lock finds by itself.
func resolved(inputs []records.Input) []records.Input {
	var own []records.Input
	for _, in := range inputs {
		if in.ResolvedBy != resolvedByMappings {
			own = append(own, in)
		}
	}
	return own
}

// difference says what changed in a row; empty when nothing did.
func difference(before, now records.Input) string {
	for _, d := range []struct {
		what        string
		before, now *string
	}{
		{"path", before.Path, now.Path},
		{"value", before.Value, now.Value},
		{"sha256", before.SHA256, now.SHA256},
	} {
		if text(d.before) != text(d.now) {
			return fmt.Sprintf("%s was %s, is %s", d.what, text(d.before), text(d.now))
		}
	}
	return ""
}

func text(s *string) string {
	if s == nil {
		return "absent"
	}
	return *s
}
