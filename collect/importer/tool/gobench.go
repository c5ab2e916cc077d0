package tool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pairbench/collect/importer/result"
	"pairbench/records"
)

// GoBench reads the text of `go test -bench`: each line of a benchmark is a
// repetition (-count) of N operations. The number of CPUs behind the name is a
// factor; the packages of several are one too.
func GoBench(src result.Source, suite string) (result.Table, error) {
	f := &textFile{src: src}
	var t result.Table
	var left []string // units, the first of them
	pkg := ""
	packages := false
	for line := range f.lines() {
		if name, ok := strings.CutPrefix(line, "pkg: "); ok {
			pkg, packages = strings.TrimSpace(name), true
			continue
		}
		if what, ok := strings.CutPrefix(strings.TrimSpace(line), "--- "); ok && !strings.HasPrefix(what, "BENCH") {
			t.Warn("%s:%d: %s; it has no result", src.Name, f.number, result.Quote(what))
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 2 || !isGoBenchmark(fields[0]) {
			continue
		}
		operations, problem := count(fields[1])
		if problem != "" && slices.Contains(fields, "ns/op") {
			return result.Table{}, f.fail("N: %s", problem)
		}
		if problem != "" {
			continue // a log line that begins with a benchmark's name
		}
		o, others, err := f.goResult(fields, operations, suite)
		if err != nil {
			return result.Table{}, err
		}
		for _, unit := range others {
			if len(left) < 20 && !slices.Contains(left, unit) {
				left = append(left, unit)
			}
		}
		if pkg != "" {
			o.Factors = append([]records.Factor{result.Word("package", pkg)}, o.Factors...)
		}
		if err := t.Add(src.Name, o); err != nil {
			return result.Table{}, err
		}
	}
	if len(t.Observations) == 0 {
		return result.Table{}, f.failFile("found no results of benchmarks, expected lines such as %q", "BenchmarkName-8 1000 123 ns/op")
	}
	if packages {
		for i, o := range t.Observations {
			if o.Factors[0].Name != "package" {
				t.Observations[i].Factors = append([]records.Factor{result.Word("package", "")}, o.Factors...)
			}
		}
	}
	if len(left) > 0 {
		t.Warn("%s: left out what pairbench has no metric for: %s", src.Name, strings.Join(left, ", "))
	}
	return t, nil
}

// isGoBenchmark knows BenchmarkX and Benchmark-8 from a word such as
// Benchmarking.
func isGoBenchmark(word string) bool {
	rest, ok := strings.CutPrefix(word, "Benchmark")
	return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}

// goResult reads a line: name, N, and pairs of a value and its unit.
func (f *textFile) goResult(fields []string, operations int64, suite string) (o result.Observation, others []string, err error) {
	name, procs := strings.TrimPrefix(fields[0], "Benchmark"), int64(1)
	if at := strings.LastIndexByte(name, '-'); at >= 0 {
		if n, err := strconv.ParseInt(name[at+1:], 10, 32); err == nil && n > 0 {
			name, procs = name[:at], n
		}
	}
	o = result.New(f.number, suite, result.Word("benchmark", name), result.Whole("procs", procs))
	pairs := fields[2:]
	if len(pairs)%2 != 0 {
		return o, nil, f.fail("found %s at the end, expected pairs of a value and its unit", result.Quote(pairs[len(pairs)-1]))
	}
	for i := 0; i < len(pairs); i += 2 {
		value, unit := pairs[i], pairs[i+1]
		if unit != "ns/op" {
			others = append(others, fmt.Sprintf("%.40s", unit))
			continue
		}
		each, problem := decimal(value)
		if problem != "" {
			return o, nil, f.fail("ns/op: %s", problem)
		}
		elapsed, problem := rounded(times(each, operations))
		if problem != "" {
			return o, nil, f.fail("ns/op: %s", problem)
		}
		o.Process.MeasuredOperations, o.Process.ElapsedNs = &operations, &elapsed
	}
	if o.Process.ElapsedNs == nil {
		return o, nil, f.fail("found the units %s, expected ns/op", result.Quote(strings.Join(others, ", ")))
	}
	return o, others, nil
}
