package tool

import (
	"math/big"

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
	var t result.Table
	for benchmark := range list.Items() {
		runs, err := f.need(benchmark, "runs", jsondoc.Array)
		if err != nil {
			return result.Table{}, err
		}
		for run := range runs.Items() {
			// What all have in common stands once, further out.
			about := pyperfMetadata{run.Get("metadata"), benchmark.Get("metadata"), f.root.Get("metadata")}
			if err := f.pyperfRun(&t, run, about, suite); err != nil {
				return result.Table{}, err
			}
		}
	}
	if len(t.Observations) == 0 {
		return result.Table{}, f.fail(list, "benchmarks: found no run with values, expected one or more")
	}
	return t, nil
}

// pyperfMetadata is the metadata of a run, its benchmark and its file.
type pyperfMetadata [3]jsondoc.Value

func (m pyperfMetadata) get(name string) jsondoc.Value {
	for _, metadata := range m {
		if v := metadata.Get(name); v.Kind() != jsondoc.Nothing {
			return v
		}
	}
	return jsondoc.Value{}
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
			total.Add(total, seconds)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	name := about.get("name")
	if name.Kind() != jsondoc.String {
		return f.fail(run, "metadata: found no name, expected the name of the benchmark")
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
	t.Observations = append(t.Observations, o)
	return nil
}
