package analyze

import (
	"context"
	"fmt"
	"math/big"
	"sync"

	"pairbench/analyze/metric"
	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/records"
)

// timeBlocks is the number of equal spans of the measured interval in which a
// process's requests are counted, to see whether its rate held.
const timeBlocks = 10

// sampleFacts are what one process's raw samples say.
type sampleFacts struct {
	n int64 // 0 without samples
	// latency are the percentiles at report.DistributionPermyriads.
	latency []int64
	// busyNs is the sum of all latencies: by Little's law the mean number of
	// samples in flight times the interval.
	busyNs big.Int
	// blocks are the samples that started in each tenth of the interval.
	blocks [timeBlocks]int64
	stated bool // the latencies are stated, there are no samples
}

// distribution are the percentiles that are computed of each process.
func distribution() []stat.Percentile {
	percentiles := make([]stat.Percentile, len(report.DistributionPermyriads))
	for i, p := range report.DistributionPermyriads {
		percentiles[i] = stat.Permyriad(p)
	}
	return percentiles
}

// measure computes every process of the study, on the given number of workers.
// Which worker takes which process does not matter to the result.
func (st *study) measure(ctx context.Context, workers int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan *process)
	var wait sync.WaitGroup
	for range max(1, workers) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			w := newWorker()
			for p := range queue {
				if ctx.Err() != nil {
					continue
				}
				if err := w.measure(p); err != nil {
					cancel(fmt.Errorf("analyze %s: process %d: %w", p.in.name, p.ProcessNo, err))
				}
			}
		}()
	}
	for _, s := range st.suites {
		for _, c := range s.cells {
			for _, p := range c.processes {
				queue <- p
			}
		}
	}
	close(queue)
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for _, s := range st.suites {
		s.metrics = s.present()
	}
	return nil
}

// present returns the metrics that a process of the suite has a value for.
func (s *suite) present() []metric.Metric {
	var present []metric.Metric
	for i, m := range metric.All() {
		if s.has(i) {
			present = append(present, m)
		}
	}
	return present
}

func (s *suite) has(metricNo int) bool {
	for _, c := range s.cells {
		for _, p := range c.processes {
			if p.values[metricNo] != nil {
				return true
			}
		}
	}
	return false
}

// worker holds the tables that are used for one process after another.
type worker struct {
	selector    *stat.Selector
	metrics     []metric.Metric
	percentiles []stat.Percentile
	response    []int64
}

func newWorker() *worker {
	return &worker{selector: stat.NewSelector(), metrics: metric.All(), percentiles: distribution()}
}

func (w *worker) measure(p *process) error {
	latency := metric.Stated(p.Process)
	p.samples.stated = latency.P50 != nil || latency.P99 != nil
	ok, err := p.in.readSamples(p.ProcessNo, func(samples sampleReader) (err error) {
		latency, err = w.read(p, samples)
		return err
	})
	if err != nil {
		return err
	}
	if !ok && p.SampleCount != nil && *p.SampleCount > 0 {
		return fmt.Errorf("%w: %d samples are recorded and no file holds them", ErrInvalid, *p.SampleCount)
	}
	p.values = make([]*big.Rat, len(w.metrics))
	for i, m := range w.metrics {
		p.values[i] = m.Value(metric.Process{Record: p.Process, Latency: latency})
	}
	return nil
}

func (w *worker) read(p *process, samples sampleReader) (metric.Latency, error) {
	facts := &p.samples
	facts.stated = false
	values := make([]int64, len(w.percentiles))
	first := true
	n, err := w.selector.Percentiles(func(yield func([]int64) error) error {
		counting := first
		first = false
		return samples.EachLatency(func(chunk []int64) error {
			if counting {
				facts.busyNs.Add(&facts.busyNs, sum(chunk))
			}
			return yield(chunk)
		})
	}, w.percentiles, values)
	if err != nil {
		return metric.Latency{}, fmt.Errorf("latency_ns: %w", err)
	}
	if p.SampleCount != nil && *p.SampleCount != n {
		return metric.Latency{}, fmt.Errorf("%w: %d samples are recorded, the file holds %d", ErrInvalid, *p.SampleCount, n)
	}
	if n == 0 {
		return metric.Latency{}, nil
	}
	facts.n, facts.latency = n, values
	if err := facts.countBlocks(p.Process, samples); err != nil {
		return metric.Latency{}, err
	}
	latency := metric.Latency{
		P50: w.at(values, stat.P50), P90: w.at(values, stat.P90), P99: w.at(values, stat.P99),
		P999: w.at(values, stat.P999), Max: w.at(values, stat.Max),
	}
	return latency, w.readResponse(samples, &latency)
}

// at returns the value computed for a percentile of the distribution.
func (w *worker) at(values []int64, p stat.Percentile) *int64 {
	for i, known := range w.percentiles {
		if known == p {
			v := values[i]
			return &v
		}
	}
	return nil
}

// sum adds a chunk exactly: a pair of halves cannot overflow.
func sum(chunk []int64) *big.Int {
	var low, high int64
	for _, v := range chunk {
		low += v & (1<<32 - 1)
		high += v >> 32
	}
	total := new(big.Int).Lsh(big.NewInt(high), 32)
	return total.Add(total, big.NewInt(low))
}

// countBlocks counts the samples that start in each tenth of the interval.
func (f *sampleFacts) countBlocks(p *records.Process, samples sampleReader) error {
	if p.ElapsedNs == nil || *p.ElapsedNs < timeBlocks {
		return nil
	}
	width := (*p.ElapsedNs + timeBlocks - 1) / timeBlocks
	n, block, end := int64(0), int64(0), width
	err := samples.EachStart(func(chunk []int64) error {
		n += int64(len(chunk))
		for _, v := range chunk {
			if v < end-width || v >= end {
				// Starts nearly ascend, so that a block is left ten times.
				block = min(max(v/width, 0), timeBlocks-1)
				end = (block + 1) * width
			}
			f.blocks[block]++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("start_ns: %w", err)
	}
	if n != f.n {
		return fmt.Errorf("start_ns: %w: %d rows beside %d latencies", ErrInvalid, n, f.n)
	}
	return nil
}

// readResponse computes start + latency - scheduled of each sample, where there
// was a schedule.
func (w *worker) readResponse(samples sampleReader, latency *metric.Latency) error {
	w.response = w.response[:0]
	err := samples.EachScheduled(func(chunk []int64) error {
		for _, v := range chunk {
			w.response = append(w.response, -v)
		}
		return nil
	})
	if err != nil || len(w.response) == 0 {
		return err
	}
	for _, each := range []func(func([]int64) error) error{samples.EachStart, samples.EachLatency} {
		at := 0
		err := each(func(chunk []int64) error {
			if at+len(chunk) > len(w.response) {
				return fmt.Errorf("%w: columns of different length", ErrInvalid)
			}
			for i, v := range chunk {
				w.response[at+i] += v
			}
			at += len(chunk)
			return nil
		})
		if err != nil {
			return err
		}
	}
	values := make([]int64, 2)
	if _, err := w.selector.Percentiles(stat.Slice(w.response), []stat.Percentile{stat.P50, stat.P99}, values); err != nil {
		return fmt.Errorf("response time: %w", err)
	}
	latency.ResponseP50, latency.ResponseP99 = &values[0], &values[1]
	return nil
}
