package driver

import (
	"fmt"
	"slices"

	"pairbench/records"
)

// Observed is what the collector measured itself; absent values are not
// compared.
type Observed struct {
	// IntervalNs is the time from the go command to the end message.
	IntervalNs *int64
	// CPUProcessNs and PeakRSSBytes were read from outside after done.
	CPUProcessNs *int64
	PeakRSSBytes *int64
}

// Slack of the comparisons with what the collector saw: counters of the kernel
// are batched per processor, and clocks are read at different instants.
const (
	slackNs       = 10_000_000
	slackRSSBytes = 1 << 20
)

// Check compares what a driver says with its job, its samples and what the
// collector saw, and returns the outcome with the first contradiction in words;
// the detail is empty exactly when the outcome is OutcomeOK. samples is nil when
// the process has no frame to show, which only a result without samples may.
// Failed operations come first: they explain whatever else is wrong.
func Check(job Job, r Result, samples *records.Samples, seen Observed) (records.Outcome, string) {
	if detail := negative(r); detail != "" {
		return records.OutcomeInvalidResult, detail
	}
	if detail := failedOperations(r); detail != "" {
		return records.OutcomeOperationErrors, detail
	}
	for _, detail := range []string{
		checkCounts(job, r),
		checkElapsed(job, r, seen),
		checkCounters(r, seen),
		checkSamples(job, r, samples),
	} {
		if detail != "" {
			return records.OutcomeInvalidResult, detail
		}
	}
	return records.OutcomeOK, ""
}

func negative(r Result) string {
	for _, v := range []struct {
		name  string
		value *int64
	}{
		{"measured_operations", &r.MeasuredOperations}, {"warmup_operations", &r.WarmupOperations},
		{"errors", &r.Errors}, {"incomplete", &r.Incomplete}, {"warmup_errors", &r.WarmupErrors},
		{"missed_ticks", r.MissedTicks}, {"elapsed_ns", &r.ElapsedNs},
		{"cpu_interval_ns", r.CPUIntervalNs}, {"cpu_process_ns", r.CPUProcessNs},
		{"peak_rss_bytes", r.PeakRSSBytes}, {"p50_ns", r.P50Ns}, {"p99_ns", r.P99Ns},
		{"samples", &r.Samples}, {"clock_tick_ns", &r.ClockTickNs},
	} {
		if v.value != nil && *v.value < 0 {
			return fmt.Sprintf("%s is %d, expected no negative value", v.name, *v.value)
		}
	}
	return ""
}

func failedOperations(r Result) string {
	if r.Errors == 0 && r.Incomplete == 0 && r.WarmupErrors == 0 {
		return ""
	}
	detail := fmt.Sprintf("%d errors, %d incomplete, %d warm-up errors", r.Errors, r.Incomplete, r.WarmupErrors)
	if r.FirstError != "" {
		detail += ": " + r.FirstError
	}
	return detail
}

func checkCounts(job Job, r Result) string {
	per := job.PerSample()
	switch {
	case job.Measure.Operations > 0 && r.MeasuredOperations != job.Measure.Operations:
		return fmt.Sprintf("%d measured operations, the plan says %d", r.MeasuredOperations, job.Measure.Operations)
	case job.Warmup.DurationNs == 0 && r.WarmupOperations != job.Warmup.Operations:
		return fmt.Sprintf("%d warm-up operations, the plan says %d", r.WarmupOperations, job.Warmup.Operations)
	case r.MeasuredOperations == 0:
		return "no operation was measured"
	case r.MeasuredOperations%per != 0:
		return fmt.Sprintf("%d measured operations are no multiple of %d operations a sample", r.MeasuredOperations, per)
	case r.Samples != r.MeasuredOperations/per:
		return fmt.Sprintf("%d samples, %d measured operations of %d a sample make %d", r.Samples, r.MeasuredOperations, per, r.MeasuredOperations/per)
	}
	return ""
}

func checkElapsed(job Job, r Result, seen Observed) string {
	switch {
	case r.ElapsedNs == 0:
		return "elapsed_ns is 0"
	case seen.IntervalNs != nil && r.ElapsedNs > *seen.IntervalNs+slackNs:
		return fmt.Sprintf("elapsed_ns is %d, the collector saw %d from go to end", r.ElapsedNs, *seen.IntervalNs)
	case job.Measure.DurationNs > 0 && r.ElapsedNs < job.Measure.DurationNs-job.Measure.DurationNs/10-slackNs:
		return fmt.Sprintf("elapsed_ns is %d, the plan says %d", r.ElapsedNs, job.Measure.DurationNs)
	}
	return ""
}

func checkCounters(r Result, seen Observed) string {
	exceeds := func(a, b *int64, slack int64) bool { return a != nil && b != nil && *a > *b+slack }
	switch {
	case exceeds(r.CPUIntervalNs, r.CPUProcessNs, 0):
		return fmt.Sprintf("cpu_interval_ns is %d, more than cpu_process_ns %d", *r.CPUIntervalNs, *r.CPUProcessNs)
	case exceeds(r.CPUIntervalNs, seen.CPUProcessNs, slackNs):
		return fmt.Sprintf("cpu_interval_ns is %d, the collector read %d for the whole process", *r.CPUIntervalNs, *seen.CPUProcessNs)
	case exceeds(r.CPUProcessNs, seen.CPUProcessNs, slackNs):
		return fmt.Sprintf("cpu_process_ns is %d, the collector read %d", *r.CPUProcessNs, *seen.CPUProcessNs)
	case exceeds(r.PeakRSSBytes, seen.PeakRSSBytes, slackRSSBytes):
		return fmt.Sprintf("peak_rss_bytes is %d, the collector read %d", *r.PeakRSSBytes, *seen.PeakRSSBytes)
	}
	return ""
}

func checkSamples(job Job, r Result, s *records.Samples) string {
	if s == nil {
		return fmt.Sprintf("no sample frame, %d samples stated", r.Samples)
	}
	if int64(s.Len()) != r.Samples || len(s.StartNs) != s.Len() {
		return fmt.Sprintf("the frame holds %d samples, %d stated", s.Len(), r.Samples)
	}
	if s.ScheduledNs != nil && len(s.ScheduledNs) != s.Len() {
		return fmt.Sprintf("the frame holds %d scheduled offsets, %d samples", len(s.ScheduledNs), s.Len())
	}
	var last int64
	for i, start := range s.StartNs {
		latency := s.LatencyNs[i]
		end := start + latency
		switch {
		case start < 0 || latency < 0 || s.ScheduledNs != nil && s.ScheduledNs[i] < 0:
			return fmt.Sprintf("sample %d: start %d, latency %d: a value is negative", i, start, latency)
		case end < start:
			return fmt.Sprintf("sample %d: start %d, latency %d: their sum does not fit", i, start, latency)
		case end < last:
			return fmt.Sprintf("sample %d ends at %d, before the sample in front of it at %d: not in the order of completion", i, end, last)
		case s.ScheduledNs != nil && s.ScheduledNs[i] > start:
			return fmt.Sprintf("sample %d starts at %d, before its schedule %d", i, start, s.ScheduledNs[i])
		}
		last = end
	}
	if last > r.ElapsedNs {
		return fmt.Sprintf("the last sample ends at %d, elapsed_ns is %d", last, r.ElapsedNs)
	}
	if last < r.ElapsedNs/2 {
		return fmt.Sprintf("the last sample ends at %d, before half of elapsed_ns %d", last, r.ElapsedNs)
	}
	return checkPercentiles(r, s)
}

func checkPercentiles(r Result, s *records.Samples) string {
	if r.P50Ns == nil && r.P99Ns == nil {
		return ""
	}
	sorted := slices.Sorted(slices.Values(s.LatencyNs))
	for _, stated := range []struct {
		name    string
		percent int
		value   *int64
	}{{"p50_ns", 50, r.P50Ns}, {"p99_ns", 99, r.P99Ns}} {
		if stated.value == nil {
			continue
		}
		rank := (len(sorted)*stated.percent + 99) / 100
		if got := sorted[max(rank, 1)-1]; got != *stated.value {
			return fmt.Sprintf("%s is %d, the samples' nearest rank is %d", stated.name, *stated.value, got)
		}
	}
	return ""
}
