package tool

import (
	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
	"pairbench/records"
)

// K6 reads the summary of k6 in both its forms: the data of handleSummary,
// where a metric's numbers stand under values, and --summary-export, where they
// stand in the metric itself. The whole test is one repetition; rate and
// percentiles are taken as stated. A test without HTTP requests is measured by
// its iterations.
func K6(src result.Source, suite string) (result.Table, error) {
	f, err := openJSON(src)
	if err != nil {
		return result.Table{}, err
	}
	metrics, err := f.need(f.root, "metrics", jsondoc.Object)
	if err != nil {
		return result.Table{}, err
	}
	operation, counter, trend := "http_reqs", "http_reqs", "http_req_duration"
	if metrics.Get(counter).Kind() == jsondoc.Nothing {
		operation, counter, trend = "iterations", "iterations", "iteration_duration"
	}
	requests, err := f.need(metrics, counter, jsondoc.Object)
	if err != nil {
		return result.Table{}, err
	}
	o := result.New(f.line(requests), suite, result.Word("operation", operation))
	p := &o.Process
	if p.MeasuredOperations, err = f.count("count", k6Value(requests, "count")); err != nil {
		return result.Table{}, err
	}
	if p.StatedThroughputMicroPerSec, err = f.units("rate", k6Value(requests, "rate"), 1e6); err != nil {
		return result.Table{}, err
	}
	if p.MeasuredOperations == nil && p.StatedThroughputMicroPerSec == nil {
		return result.Table{}, f.fail(requests, "%s: found neither count nor rate, expected both", counter)
	}
	if p.ElapsedNs, err = f.units("testRunDurationMs", f.root.Get("state").Get("testRunDurationMs"), 1e6); err != nil {
		return result.Table{}, err
	}
	if err := f.k6Latency(p, metrics.Get(trend)); err != nil {
		return result.Table{}, err
	}
	// http_req_failed counts a failed request as passed: it passed the test of
	// having failed.
	if p.Errors, err = f.count("http_req_failed", k6Value(metrics.Get("http_req_failed"), "passes")); err != nil {
		return result.Table{}, err
	}
	if p.Errors != nil && *p.Errors > 0 {
		result.Failed(p, records.OutcomeOperationErrors, "k6 counts failed requests")
	}
	return result.Table{NamedByTarget: true, Observations: []result.Observation{o}}, nil
}

// k6Value returns a number of a metric in either form.
func k6Value(metric jsondoc.Value, name string) jsondoc.Value {
	if values := metric.Get("values"); values.Kind() == jsondoc.Object {
		return values.Get(name)
	}
	return metric.Get(name)
}

// k6Latency takes the median and p(99), which a test states only when it was
// asked to.
func (f *jsonFile) k6Latency(p *records.Process, trend jsondoc.Value) (err error) {
	if contains := trend.Get("contains"); contains.Kind() != jsondoc.Nothing && contains.Text() != "time" {
		return f.fail(contains, "contains: found %s, expected time", result.Quote(contains.Text()))
	}
	median := k6Value(trend, "med")
	if median.Kind() == jsondoc.Nothing {
		median = k6Value(trend, "p(50)")
	}
	if p.StatedLatencyP50Ns, err = f.units("med", median, 1e6); err != nil {
		return err
	}
	p.StatedLatencyP99Ns, err = f.units("p(99)", k6Value(trend, "p(99)"), 1e6)
	return err
}
