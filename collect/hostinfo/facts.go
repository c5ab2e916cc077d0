package hostinfo

import (
	"context"
	"slices"
	"sort"
	"strings"

	"pairbench/records"
)

// Facts returns the facts of this machine, sorted by name, each name once. It
// takes some ten milliseconds and starts no process.
func Facts(ctx context.Context) []records.HostFact {
	c := &collector{root: "/"}
	c.systemFacts(ctx)
	return c.sorted()
}

// sorted returns the facts in the order in which they are recorded.
func (c *collector) sorted() []records.HostFact {
	sort.SliceStable(c.facts, func(i, j int) bool { return c.facts[i].Name < c.facts[j].Name })
	return slices.CompactFunc(c.facts, func(a, b records.HostFact) bool { return a.Name == b.Name })
}

// identifying are the facts that must not change within one bundle: with
// another processor, kernel or amount of memory it is another machine.
var identifying = []string{
	"cgroup.cpu_quota_milli", "cgroup.cpuset", "cgroup.memory_max_bytes",
	"cpu.cores", "cpu.logical", "cpu.microcode", "cpu.model", "cpu.smt", "cpu.vendor",
	"kernel.name", "kernel.release", "kernel.version",
	"libc.version",
	"machine.arch", "machine.id_sha256", "machine.virtualisation",
	"memory.total_bytes",
	"os.build", "os.id", "os.name", "os.version",
}

// Identity returns the facts that a resumed collection compares, absent ones
// included.
func Identity(facts []records.HostFact) []records.HostFact {
	var identity []records.HostFact
	for _, f := range facts {
		if slices.Contains(identifying, f.Name) {
			identity = append(identity, f)
		}
	}
	return identity
}

// Diff names every identifying fact that differs, one line each, sorted; empty
// means that it is the same machine.
func Diff(before, now []records.HostFact) []string {
	was, is := values(Identity(before)), values(Identity(now))
	var lines []string
	for _, name := range identifying {
		if was[name] != is[name] {
			lines = append(lines, name+": was "+orAbsent(was[name])+", is "+orAbsent(is[name]))
		}
	}
	sort.Strings(lines)
	return lines
}

// values returns the facts that have one, by name.
func values(facts []records.HostFact) map[string]string {
	m := map[string]string{}
	for _, f := range facts {
		if f.Value != nil {
			m[f.Name] = strings.TrimSpace(*f.Value)
		}
	}
	return m
}

func orAbsent(value string) string {
	if value == "" {
		return "absent"
	}
	return value
}
