package analyze

import (
	"math"

	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/records"
)

// The error rates for which DetectableChanges answers.
const (
	detectableAlpha = 0.05
	detectablePower = 0.80
)

// Detectable is the change of a metric that a number of rounds could find.
type Detectable struct {
	Suite, Metric string
	// MedianPct is for the cell in the middle and WorstPct for the noisiest one;
	// both are changes in percent, found by a two-sided test at 5 % in four of
	// five collections.
	MedianPct, WorstPct float64
	Cells               int
}

// DetectableChanges estimates from a former analysis, whose processes show how
// far equal runs lie apart, what changes a collection of the given rounds could
// detect. Cells with fewer than two processes an arm say nothing; with fewer
// than two rounds there is no answer.
func DetectableChanges(r *report.Report, rounds int) []Detectable {
	var out []Detectable
	for i := range r.Suites {
		s := &r.Suites[i]
		for m := range s.Metrics {
			var changes []float64
			for c := range s.Cells {
				sd, ok := spread(&s.Cells[c], m)
				effect, defined := stat.DetectableEffect(stat.TwoSample, rounds, detectableAlpha, detectablePower)
				if ok && defined {
					changes = append(changes, (math.Exp(effect*sd)-1)*100)
				}
			}
			if middle, worst, ok := stat.MiddleAndMax(changes); ok {
				out = append(out, Detectable{s.ID, s.Metrics[m].ID, middle, worst, len(changes)})
			}
		}
	}
	return out
}

// spread is the standard deviation of the logarithms inside the arms, pooled.
func spread(c *report.Cell, metricNo int) (sd float64, ok bool) {
	squares, freedom := 0.0, 0
	for _, side := range records.Sides {
		var logs []float64
		mean := 0.0
		for _, p := range c.Processes {
			if v := p.Values[metricNo]; p.Side == side && p.Outcome == records.OutcomeOK && v != nil && v.Sign() > 0 {
				logs = append(logs, math.Log(v.Float()))
				mean += logs[len(logs)-1]
			}
		}
		for _, l := range logs {
			d := l - mean/float64(len(logs))
			squares += d * d
		}
		freedom += max(0, len(logs)-1)
	}
	if freedom == 0 {
		return 0, false
	}
	return math.Sqrt(squares / float64(freedom)), true
}
