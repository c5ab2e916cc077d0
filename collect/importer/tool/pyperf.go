package tool

import (
	"math/big"
	"slices"

	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
)

// Pyperf reads the JSON of pyperf, also compressed: each run with values is a
// process, and all its values together are its measured interval. Warm-ups and
// runs that only calibrated are passed over.
func Pyperf(src result.Source, suite string) (result.Table, error) {
	f, err := openJSON(src)
	if err != nil {
		return result.Table{}, err
	}
	version := f.root.Get("version")
	if version.Text() != "1.0" {
		return result.Table{}, f.fail(version, "version: found %s, expected 1.0", result.Quote(version.Literal()))
	}
	list, err := f.need(f.root, "benchmarks", jsondoc.Array)
	if err != nil {
		return result.Table{}, err
	}
	// What all have in common stands once, further out.
	var t result.Table
	ofFile := pyperfMetadata{}.with(f.root.Get("metadata"))
	for benchmark := range list.Items() {
		runs, err := f.need(benchmark, "runs", jsondoc.Array)
		if err != nil {
			return result.Table{}, err
		}
		ofBenchmark := ofFile.with(benchmark.Get("metadata"))
		for run := range runs.Items() {
			if err := f.pyperfRun(&t, run, ofBenchmark.with(run.Get("metadata")), suite); err != nil {
				return result.Table{}, err
			}
		}
	}
	if len(t.Observations) == 0 {
		return result.Table{}, f.fail(list, "benchmarks: found no run with values, expected one or more")
	}
	return t, nil
}

// pyperfMembers are the members of metadata that are read.
var pyperfMembers = [...]string{"unit", "name", "loops", "inner_loops", "command_max_rss", "mem_max_rss"}

// pyperfMetadata holds the pyperfMembers.
type pyperfMetadata [len(pyperfMembers)]jsondoc.Value

// with returns the metadata with that of something further in before it.
func (m pyperfMetadata) with(metadata jsondoc.Value) pyperfMetadata {
	for i, member := range pyperfMembers {
		if v := metadata.Get(member); v.Kind() != jsondoc.Nothing {
			m[i] = v
		}
	}
	return m
}

func (m pyperfMetadata) get(name string) jsondoc.Value {
	return m[slices.Index(pyperfMembers[:], name)]
}

func (f *jsonFile) pyperfRun(t *result.Table, run jsondoc.Value, about pyperfMetadata, suite string) error {
	if unit := about.get("unit"); unit.Kind() != jsondoc.Nothing && unit.Text() != "second" {
		return f.fail(unit, "unit: found %s, expected second", result.Quote(unit.Text()))
	}
	values := run.Get("values")
	n, total := int64(0), new(big.Rat)
	for v := range values.Items() {
		seconds, err := f.number("values", v)
		if err != nil {
			return err
		}
		if seconds != nil {
			if n == result.MaxObservations {
				return f.fail(v, "values: found more than %d, expected fewer", result.MaxObservations)
			}
			total.Add(total, seconds)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	name := about.get("name")
	if start, end := name.Span(); name.Kind() != jsondoc.String || end-start > maxName {
		return f.fail(run, "metadata: found no name, expected the name of the benchmark, of at most %d bytes", maxName)
	}
	each := int64(1)
	for _, member := range []string{"loops", "inner_loops"} {
		v := about.get(member)
		loops, err := f.count(member, v)
		switch {
		case err != nil:
			return err
		case loops == nil:
			continue
		case *loops < 1 || *loops > 1<<40/each:
			return f.fail(v, "%s: found %s, expected 1 or more, and not too many", member, result.Quote(v.Literal()))
		}
		each *= *loops
	}
	o := result.New(f.line(run), suite, result.Word("benchmark", name.Text()))
	p := &o.Process
	var err error
	operations := n * each
	p.MeasuredOperations = &operations
	if p.ElapsedNs, err = f.round("values", values, times(times(total, each), 1e9)); err != nil {
		return err
	}
	for _, member := range []string{"command_max_rss", "mem_max_rss"} {
		if p.PeakRSSBytes == nil {
			if p.PeakRSSBytes, err = f.count(member, about.get(member)); err != nil {
				return err
			}
		}
	}
	return t.Add(f.src.Name, o)
}
