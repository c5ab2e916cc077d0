package tool

import (
	"strconv"
	"strings"

	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
)

// PytestBenchmark reads the JSON of pytest-benchmark: each round is a
// repetition of as many operations as it had iterations. A file saved without
// its data has aggregates only, and is refused.
func PytestBenchmark(src result.Source, suite string) (result.Table, error) {
	f, err := openJSON(src)
	if err != nil {
		return result.Table{}, err
	}
	version := f.root.Get("version")
	major, _, _ := strings.Cut(version.Text(), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 3 || n > 5 {
		return result.Table{}, f.fail(version, "version: found %s, expected 3, 4 or 5", result.Quote(version.Literal()))
	}
	list, err := f.need(f.root, "benchmarks", jsondoc.Array)
	if err != nil {
		return result.Table{}, err
	}
	var t result.Table
	for benchmark := range list.Items() {
		if err := f.pytestRounds(&t, benchmark, suite); err != nil {
			return result.Table{}, err
		}
	}
	if len(t.Observations) == 0 {
		return result.Table{}, f.fail(list, "benchmarks: found none, expected one or more")
	}
	return t, nil
}

func (f *jsonFile) pytestRounds(t *result.Table, benchmark jsondoc.Value, suite string) error {
	called := "fullname"
	if benchmark.Get(called).Kind() != jsondoc.String {
		called = "name"
	}
	name, err := f.need(benchmark, called, jsondoc.String)
	if err != nil {
		return err
	}
	stats, err := f.need(benchmark, "stats", jsondoc.Object)
	if err != nil {
		return err
	}
	data := stats.Get("data")
	if data.Kind() != jsondoc.Array {
		return f.fail(stats, "data: found nothing, expected the rounds; save them with --benchmark-save-data")
	}
	iterations, err := f.count("iterations", stats.Get("iterations"))
	if err != nil {
		return err
	}
	if iterations == nil {
		return f.fail(stats, "iterations: found nothing, expected a number")
	}
	for v := range data.Items() {
		seconds, err := f.number("data", v)
		if err != nil {
			return err
		}
		o := result.New(f.line(v), suite, result.Word("benchmark", name.Text()))
		o.Process.MeasuredOperations = iterations
		if seconds != nil {
			// A round's time is stored as that of one iteration.
			if o.Process.ElapsedNs, err = f.round("data", v, times(times(seconds, *iterations), 1e9)); err != nil {
				return err
			}
		}
		if err := t.Add(f.src.Name, o); err != nil {
			return err
		}
	}
	return nil
}
