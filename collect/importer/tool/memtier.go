package tool

import (
	"regexp"
	"strings"
	"time"

	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
	"pairbench/records"
)

// memtierRun is the name of the results of one run. Best, worst and average of
// several runs are no runs of their own.
var memtierRun = regexp.MustCompile(`^(ALL STATS|RUN #[0-9]+ RESULTS)$`)

// Memtier reads `memtier_benchmark --json-out-file`: each run is a repetition of
// every operation it had. Rates and percentiles are taken as stated.
func Memtier(src result.Source, suite string) (result.Table, error) {
	f, err := openJSON(src)
	if err != nil {
		return result.Table{}, err
	}
	if version := f.root.Get("run information").Get("Format version"); version.Kind() != jsondoc.Nothing && version.Literal() != "2" {
		return result.Table{}, f.fail(version, "Format version: found %s, expected 2", result.Quote(version.Literal()))
	}
	t := result.Table{}
	others := 0
	for name, run := range f.root.Members() {
		switch {
		case memtierRun.MatchString(name.Text()):
			if err := f.memtierOperations(&t, run, suite); err != nil {
				return result.Table{}, err
			}
		case strings.HasSuffix(name.Text(), "RUN RESULTS"), strings.HasPrefix(name.Text(), "AGGREGATED AVERAGE RESULTS"):
			others++
		}
	}
	switch {
	case len(t.Observations) > 0:
		return t, nil
	case others > 0:
		return result.Table{}, f.fail(f.root, "found only best, worst and average of the runs, expected every run (--print-all-runs)")
	default:
		return result.Table{}, f.fail(f.root, "found no results of memtier_benchmark, expected ALL STATS or RUN #1 RESULTS")
	}
}

// memtierOperations reads the operations of one run. Where there is only one
// kind, Totals says the same again and is left out.
func (f *jsonFile) memtierOperations(t *result.Table, run jsondoc.Value, suite string) error {
	runtime := run.Get("Runtime")
	if unit := runtime.Get("Time unit"); unit.Kind() != jsondoc.Nothing && unit.Text() != "MILLISECONDS" {
		return f.fail(unit, "Time unit: found %s, expected MILLISECONDS", result.Quote(unit.Text()))
	}
	var found result.Table
	for name, operation := range run.Members() {
		if operation.Get("Ops/sec").Kind() == jsondoc.Nothing || name.Text() == "Runtime" {
			continue
		}
		operations, err := f.count("Count", operation.Get("Count"))
		if err != nil {
			return err
		}
		rate, err := f.number("Ops/sec", operation.Get("Ops/sec"))
		if err != nil {
			return err
		}
		if rate == nil || rate.Sign() == 0 {
			continue // an operation that did not occur
		}
		o := result.New(f.line(operation), suite, result.Word("operation", name.Text()))
		p := &o.Process
		p.MeasuredOperations = operations
		if p.StatedThroughputMicroPerSec, err = f.units("Ops/sec", operation.Get("Ops/sec"), 1e6); err != nil {
			return err
		}
		percentiles := operation.Get("Percentile Latencies")
		if p.StatedLatencyP50Ns, err = f.units("p50.00", percentiles.Get("p50.00"), 1e6); err != nil {
			return err
		}
		if p.StatedLatencyP99Ns, err = f.units("p99.00", percentiles.Get("p99.00"), 1e6); err != nil {
			return err
		}
		if p.Errors, err = f.count("Connection Errors", operation.Get("Connection Errors")); err != nil {
			return err
		}
		if err := f.memtierTimes(p, runtime); err != nil {
			return err
		}
		if err := found.Add(f.src.Name, o); err != nil {
			return err
		}
	}
	kinds := found.Observations
	if len(kinds) == 2 && kinds[1].Factors[0].Value.Str == "Totals" {
		kinds = kinds[:1]
	}
	for _, o := range kinds {
		if err := t.Add(f.src.Name, o); err != nil {
			return err
		}
	}
	return nil
}

func (f *jsonFile) memtierTimes(p *records.Process, runtime jsondoc.Value) error {
	start, err := f.count("Start time", runtime.Get("Start time"))
	if err != nil {
		return err
	}
	if start != nil && *start < 1<<43 {
		p.Start(time.UnixMilli(*start))
	}
	p.ElapsedNs, err = f.units("Total duration", runtime.Get("Total duration"), 1e6)
	return err
}
