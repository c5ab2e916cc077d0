package tool

import (
	"strings"

	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
	"pairbench/records"
)

// googleUnits are the values of time_unit.
var googleUnits = map[string]int64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

// GoogleBenchmark reads --benchmark_format=json: each iteration run is a
// repetition, aggregates are passed over. The times of a run are means over its
// iterations.
func GoogleBenchmark(src result.Source, suite string) (result.Table, error) {
	f, err := openJSON(src)
	if err != nil {
		return result.Table{}, err
	}
	if version := f.root.Get("context").Get("json_schema_version"); version.Kind() != jsondoc.Nothing && version.Literal() != "1" {
		return result.Table{}, f.fail(version, "json_schema_version: found %s, expected 1", result.Quote(version.Literal()))
	}
	list, err := f.need(f.root, "benchmarks", jsondoc.Array)
	if err != nil {
		return result.Table{}, err
	}
	var t result.Table
	aggregates := 0
	for run := range list.Items() {
		name, err := f.need(run, "name", jsondoc.String)
		if err != nil {
			return result.Table{}, err
		}
		switch kind := run.Get("run_type"); {
		case kind.Text() == "aggregate", kind.Kind() == jsondoc.Nothing && oldAggregate(run, name.Text()):
			aggregates++
			continue
		case kind.Kind() != jsondoc.Nothing && kind.Text() != "iteration":
			return result.Table{}, f.fail(kind, "run_type: found %s, expected iteration or aggregate", result.Quote(kind.Text()))
		}
		if run.Get("skipped").Text() == "true" {
			t.Warn("%s:%d: %s was skipped and is left out", src.Name, f.line(run), result.Quote(name.Text()))
			continue
		}
		o, err := f.googleRun(run, suite)
		if err != nil {
			return result.Table{}, err
		}
		if err := t.Add(src.Name, o); err != nil {
			return result.Table{}, err
		}
	}
	if len(t.Observations) == 0 {
		return result.Table{}, f.fail(list, "benchmarks: found no repetitions and %d aggregates, expected runs (without --benchmark_report_aggregates_only)", aggregates)
	}
	return t, nil
}

// oldAggregate knows the aggregates of versions that did not mark them.
func oldAggregate(run jsondoc.Value, name string) bool {
	for _, member := range []string{"aggregate_name", "big_o", "rms", "RMS", "cpu_coefficient"} {
		if run.Get(member).Kind() != jsondoc.Nothing {
			return true
		}
	}
	for _, suffix := range []string{"_mean", "_median", "_stddev", "_cv"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

func (f *jsonFile) googleRun(run jsondoc.Value, suite string) (result.Observation, error) {
	called := "run_name"
	if run.Get(called).Kind() != jsondoc.String {
		called = "name"
	}
	name, err := f.need(run, called, jsondoc.String)
	if err != nil {
		return result.Observation{}, err
	}
	o := result.New(f.line(run), suite, result.Word("benchmark", name.Text()))
	p := &o.Process
	if run.Get("error_occurred").Text() == "true" {
		result.Failed(p, records.OutcomeOperationErrors, run.Get("error_message").Text())
		return o, nil
	}
	unit := int64(1) // versions without time_unit wrote nanoseconds
	if v := run.Get("time_unit"); v.Kind() != jsondoc.Nothing {
		known := false
		if unit, known = googleUnits[v.Text()]; !known {
			return o, f.fail(v, "time_unit: found %s, expected ns, us, ms or s", result.Quote(v.Text()))
		}
	}
	iterations, err := f.count("iterations", run.Get("iterations"))
	if err != nil {
		return o, err
	}
	if iterations == nil {
		return o, f.fail(run, "iterations: found nothing, expected a number")
	}
	p.MeasuredOperations = iterations
	for _, time := range []struct {
		name string
		into **int64
	}{{"real_time", &p.ElapsedNs}, {"cpu_time", &p.CPUNs}} {
		v := run.Get(time.name)
		each, err := f.number(time.name, v)
		if err != nil {
			return o, err
		}
		if each == nil {
			continue
		}
		if *time.into, err = f.round(time.name, v, times(times(each, unit), *iterations)); err != nil {
			return o, err
		}
	}
	return o, nil
}
