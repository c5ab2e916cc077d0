package analyze

import (
	"fmt"
	"math/big"

	"pairbench/analyze/metric"
	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/records"
)

// The level that intervals ask for, and the fixed run of the bootstrap.
const (
	inferenceLevel = 0.95
	bootstrapDraws = 4000
	bootstrapSeed  = 1
)

// The methods, in the order of the processes that they need.
const (
	methodRangeRatio    = "range_ratio"
	methodMannWhitney   = "mann_whitney"
	methodHodgesLehmann = "hodges_lehmann"
	methodSignedRank    = "signed_rank"
	methodMedianRanks   = "median_rank_interval"
	methodPairedT       = "paired_t_log"
	methodBootstrap     = "bootstrap_two_level"
)

// infer adds intervals and tests to every comparison of the report, and the
// geometric mean to every summary. Tests of one suite and metric are one family
// whose p-values are adjusted together.
func (st *study) infer(r *report.Report) error {
	w := newWorker()
	for i := range r.Suites {
		s := &r.Suites[i]
		index := metricIndex(st.suites[i].metrics)
		for m := range s.Metrics {
			for c := range s.Cells {
				found, err := st.inferCell(w, st.suites[i].cells[c], s.Metrics[m].ID, index[m])
				if err != nil {
					return err
				}
				s.Cells[c].Comparisons[m].Inference = found
			}
			for _, method := range []string{methodMannWhitney, methodSignedRank} {
				adjust(s.Cells, m, method)
			}
			s.Summaries[m].GeomeanPct = geomean(s.Cells, m)
		}
	}
	return nil
}

// sides are one metric of one cell, as the methods take it.
type sides struct {
	a, b               []float64
	roundsA, roundsB   []float64 // of the rounds in which both sides have a value
	processA, processB []*process
}

func (c *cell) sides(metricNo int) sides {
	var s sides
	for _, p := range c.processes {
		v := p.values[metricNo]
		switch {
		case v == nil || !p.ok():
		case p.side == records.SideA:
			s.a, s.processA = append(s.a, float(v)), append(s.processA, p)
		default:
			s.b, s.processB = append(s.b, float(v)), append(s.processB, p)
		}
	}
	c.pairs(func(a, b *process) {
		v, w := a.values[metricNo], b.values[metricNo]
		if a.ok() && b.ok() && v != nil && w != nil {
			s.roundsA, s.roundsB = append(s.roundsA, float(v)), append(s.roundsB, float(w))
		}
	})
	return s
}

func (st *study) inferCell(w *worker, c *cell, id string, metricNo int) ([]report.Inference, error) {
	s := c.sides(metricNo)
	n, rounds := min(len(s.a), len(s.b)), len(s.roundsA)
	ratios, paired := stat.PairedRatios(s.roundsA, s.roundsB)
	var found []report.Inference
	// method runs compute when there are enough processes, and says how many it
	// needs when there are not. A result that is undefined says why.
	method := func(name string, have, need int, compute func(*report.Inference) (reason string)) {
		inference := report.Inference{Method: name}
		if have < need {
			inference.NeedN = need
		} else if reason := compute(&inference); reason != "" {
			inference = report.Inference{Method: name, Reason: reason}
		}
		found = append(found, inference)
	}
	// ofRounds is a method that needs pairs: two collections have none.
	ofRounds := func(name string, need int, compute func(*report.Inference) string) {
		method(name, rounds, need, func(i *report.Inference) string {
			switch {
			case st.notPaired:
				return report.ReasonNotPaired
			case !paired:
				return report.ReasonNotPositive
			}
			return compute(i)
		})
	}
	method(methodRangeRatio, n, 3, func(i *report.Inference) string {
		interval, ok := stat.RangeRatio(s.a, s.b)
		return setInterval(i, interval, ok)
	})
	method(methodMannWhitney, n, 4, func(i *report.Inference) string {
		test, ok := stat.MannWhitneyTest(s.a, s.b)
		if ok {
			i.P = &test.P
		}
		return ""
	})
	method(methodHodgesLehmann, n, 5, func(i *report.Inference) string {
		interval, ok := stat.HodgesLehmann(s.a, s.b, inferenceLevel)
		return setInterval(i, interval, ok)
	})
	ofRounds(methodSignedRank, 6, func(i *report.Inference) string {
		differences := make([]float64, rounds)
		for k := range differences {
			differences[k] = s.roundsB[k] - s.roundsA[k]
		}
		test := stat.SignedRankTest(differences)
		estimate := stat.PairedHodgesLehmann(ratios)
		i.P, i.EstimatePct = &test.P, &estimate
		return ""
	})
	ofRounds(methodMedianRanks, 6, func(i *report.Inference) string {
		interval, ok := stat.MedianRankInterval(ratios, inferenceLevel)
		return setInterval(i, interval, ok)
	})
	ofRounds(methodPairedT, 6, func(i *report.Inference) string {
		interval, p, ok := stat.PairedT(ratios, inferenceLevel)
		if !ok {
			return report.ReasonNoVariation
		}
		i.P, i.ModelBased = &p, true
		return setInterval(i, interval, ok)
	})
	var failure error
	method(methodBootstrap, n, 10, func(i *report.Inference) string {
		ratio, ok := stat.MedianRatio(s.a, s.b)
		if !ok {
			return report.ReasonNotPositive
		}
		a, err := w.replicates(s.processA, id, metricNo)
		if err == nil {
			var b []stat.Replicate
			if b, err = w.replicates(s.processB, id, metricNo); err == nil {
				seed := int64(bootstrapSeed)
				i.Seed = &seed
				interval, ok := stat.TwoLevelBootstrap(a, b, (ratio-1)*100, inferenceLevel, bootstrapDraws, bootstrapSeed)
				return setInterval(i, interval, ok)
			}
		}
		failure = err
		return ""
	})
	return found, failure
}

func setInterval(i *report.Inference, interval stat.Interval, ok bool) string {
	if !ok {
		return report.ReasonNotPositive
	}
	i.EstimatePct, i.LowPct, i.HighPct, i.Level = &interval.Estimate, &interval.Low, &interval.High, &interval.Level
	return ""
}

// samplePercentiles are the metrics whose second level of resampling is a
// process's own requests.
var samplePercentiles = map[string]stat.Percentile{
	metric.LatencyP50: stat.P50, metric.LatencyP90: stat.P90, metric.LatencyP99: stat.P99,
	metric.LatencyP999: stat.P999, metric.LatencyMax: stat.Max,
}

func (w *worker) replicates(processes []*process, id string, metricNo int) ([]stat.Replicate, error) {
	percentile, ofSamples := samplePercentiles[id]
	out := make([]stat.Replicate, len(processes))
	for i, p := range processes {
		if !ofSamples || p.samples.n == 0 {
			out[i] = stat.Fixed(float(p.values[metricNo]))
			continue
		}
		low, high := stat.ReplicateWindow(percentile, p.samples.n)
		_, err := p.in.readSamples(p.ProcessNo, func(samples sampleReader) error {
			window, n, err := w.selector.Between(samples.EachLatency, func(int64) (int64, int64) { return low, high })
			if err == nil {
				out[i] = stat.ReplicateRank(window, low, n, percentile.Rank(n))
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("analyze %s: process %d: %w", p.in.name, p.ProcessNo, err)
		}
	}
	return out, nil
}

// adjust controls the false discoveries of one method over the cells, and says
// how small the adjusted p of a single cell could become at all.
func adjust(cells []report.Cell, metricNo int, method string) {
	var p, smallest []float64
	var at []*report.Inference
	for c := range cells {
		comparison := &cells[c].Comparisons[metricNo]
		for i := range comparison.Inference {
			inference := &comparison.Inference[i]
			if inference.Method != method || inference.P == nil {
				continue
			}
			p, at = append(p, *inference.P), append(at, inference)
			if method == methodMannWhitney {
				smallest = append(smallest, stat.MannWhitneyMinP(comparison.A.N, comparison.B.N))
			} else {
				smallest = append(smallest, stat.PairedMinP(min(comparison.A.N, comparison.B.N)))
			}
		}
	}
	for i, adjusted := range stat.BenjaminiHochberg(p) {
		floor := min(1, smallest[i]*float64(len(p)))
		at[i].PAdjusted, at[i].PAdjustedFloor = &adjusted, &floor
	}
}

// geomean is the geometric mean of the cells' ratios of medians.
func geomean(cells []report.Cell, metricNo int) *float64 {
	var ratios []float64
	for c := range cells {
		if change := cells[c].Comparisons[metricNo].ChangePct; change != nil {
			ratio := new(big.Rat).Quo(change.Rat(), big.NewRat(100, 1))
			ratios = append(ratios, float(ratio.Add(ratio, big.NewRat(1, 1))))
		}
	}
	if pct, ok := stat.GeometricMean(ratios); ok {
		return &pct
	}
	return nil
}
