package driver

import (
	"math"
	"strings"
	"testing"

	"pairbench/records"
)

func ptr[T any](v T) *T { return &v }

func TestCheck(t *testing.T) {
	job := Job{Protocol: 1, Warmup: Amount{Operations: 2}, Measure: Amount{Operations: 4}}
	result := Result{MeasuredOperations: 4, WarmupOperations: 2, Samples: 4, ElapsedNs: 4000}
	samples := records.Samples{StartNs: []int64{0, 10, 1000, 2000}, LatencyNs: []int64{900, 900, 500, 2000}}

	for _, c := range []struct {
		name    string
		change  func(j *Job, r *Result, s *records.Samples, o *Observed)
		outcome records.Outcome
		want    string
	}{
		{"good", func(*Job, *Result, *records.Samples, *Observed) {}, records.OutcomeOK, ""},
		{"good with all that can be stated", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			r.P50Ns, r.P99Ns = ptr(int64(900)), ptr(int64(2000))
			r.CPUIntervalNs, r.CPUProcessNs, r.PeakRSSBytes = ptr(int64(3000)), ptr(int64(9000)), ptr(int64(5<<20))
			o.IntervalNs, o.CPUProcessNs, o.PeakRSSBytes = ptr(int64(5000)), ptr(int64(9500)), ptr(int64(5<<20))
			s.ScheduledNs = []int64{0, 0, 1000, 1500}
		}, records.OutcomeOK, ""},
		{"batches", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			j.OperationsPerSample, j.Measure.Operations, r.MeasuredOperations = 16, 64, 64
		}, records.OutcomeOK, ""},
		{"errors", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			r.Errors, r.FirstError, r.MeasuredOperations = 1, "reply 5: wrong", 3
		}, records.OutcomeOperationErrors, "1 errors, 0 incomplete, 0 warm-up errors: reply 5: wrong"},
		{"incomplete", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.Incomplete = 2 }, records.OutcomeOperationErrors, "2 incomplete"},
		{"warm-up errors", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.WarmupErrors = 1 }, records.OutcomeOperationErrors, "1 warm-up errors"},
		{"fewer operations", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.MeasuredOperations = 3 }, records.OutcomeInvalidResult, "3 measured operations, the plan says 4"},
		{"more warm-up", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.WarmupOperations = 3 }, records.OutcomeInvalidResult, "3 warm-up operations, the plan says 2"},
		{"no operation in a duration", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			j.Measure, r.MeasuredOperations = Amount{DurationNs: 4000}, 0
		}, records.OutcomeInvalidResult, "no operation"},
		{"too short", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			j.Measure = Amount{DurationNs: 1e9}
		}, records.OutcomeInvalidResult, "the plan says 1000000000"},
		{"half a batch", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			j.OperationsPerSample, j.Measure, r.MeasuredOperations = 16, Amount{DurationNs: 4000}, 65
		}, records.OutcomeInvalidResult, "no multiple of 16"},
		{"samples beside operations", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.Samples = 5 }, records.OutcomeInvalidResult, "5 samples, 4 measured operations of 1 a sample make 4"},
		{"frame beside samples", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			s.StartNs, s.LatencyNs = s.StartNs[:3], s.LatencyNs[:3]
		}, records.OutcomeInvalidResult, "the frame holds 3 samples, 4 stated"},
		{"no time", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.ElapsedNs = 0 }, records.OutcomeInvalidResult, "elapsed_ns is 0"},
		{"elapsed below samples", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.ElapsedNs = 3999 }, records.OutcomeInvalidResult, "the last sample ends at 4000"},
		{"elapsed far above samples", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.ElapsedNs = 9000 }, records.OutcomeInvalidResult, "before half"},
		{"elapsed beyond the collector's", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			r.ElapsedNs, o.IntervalNs = slackNs+4000, ptr(int64(3999))
		}, records.OutcomeInvalidResult, "from go to end"},
		{"negative count", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.Errors = -1 }, records.OutcomeInvalidResult, "errors is -1"},
		{"negative optional", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.MissedTicks = ptr(int64(-1)) }, records.OutcomeInvalidResult, "missed_ticks is -1"},
		{"negative latency", func(j *Job, r *Result, s *records.Samples, o *Observed) { s.LatencyNs[2] = -1 }, records.OutcomeInvalidResult, "sample 2: start 1000, latency -1"},
		{"negative start", func(j *Job, r *Result, s *records.Samples, o *Observed) { s.StartNs[0] = -1 }, records.OutcomeInvalidResult, "negative"},
		{"overflow", func(j *Job, r *Result, s *records.Samples, o *Observed) { s.LatencyNs[2] = math.MaxInt64 }, records.OutcomeInvalidResult, "does not fit"},
		{"not in the order of completion", func(j *Job, r *Result, s *records.Samples, o *Observed) { s.StartNs[2] = 0 }, records.OutcomeInvalidResult, "order of completion"},
		{"started before its schedule", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			s.ScheduledNs = []int64{0, 11, 0, 0}
		}, records.OutcomeInvalidResult, "before its schedule"},
		{"wrong P50", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.P50Ns = ptr(int64(901)) }, records.OutcomeInvalidResult, "p50_ns is 901, the samples' nearest rank is 900"},
		{"wrong P99", func(j *Job, r *Result, s *records.Samples, o *Observed) { r.P99Ns = ptr(int64(900)) }, records.OutcomeInvalidResult, "p99_ns is 900, the samples' nearest rank is 2000"},
		{"interval CPU above process CPU", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			r.CPUIntervalNs, r.CPUProcessNs = ptr(int64(2)), ptr(int64(1))
		}, records.OutcomeInvalidResult, "more than cpu_process_ns"},
		{"CPU above the collector's", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			r.CPUProcessNs, o.CPUProcessNs = ptr(int64(1e9)), ptr(int64(1))
		}, records.OutcomeInvalidResult, "cpu_process_ns is 1000000000, the collector read 1"},
		{"RSS above the collector's", func(j *Job, r *Result, s *records.Samples, o *Observed) {
			r.PeakRSSBytes, o.PeakRSSBytes = ptr(int64(64<<20)), ptr(int64(8<<20))
		}, records.OutcomeInvalidResult, "peak_rss_bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, r, seen := job, result, Observed{}
			s := records.Samples{StartNs: append([]int64(nil), samples.StartNs...), LatencyNs: append([]int64(nil), samples.LatencyNs...)}
			c.change(&j, &r, &s, &seen)
			outcome, detail := Check(j, r, &s, seen)
			if outcome != c.outcome || (detail == "") != (outcome == records.OutcomeOK) || !strings.Contains(detail, c.want) {
				t.Errorf("got %s %q, want %s %q", outcome, detail, c.outcome, c.want)
			}
		})
	}
	if outcome, detail := Check(job, result, nil, Observed{}); outcome != records.OutcomeInvalidResult || !strings.Contains(detail, "no sample frame") {
		t.Errorf("without a frame: %s %q", outcome, detail)
	}
}
