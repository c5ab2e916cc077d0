package stat

import (
	"math"
	"slices"
)

// The smallest change of level that is worth a word, and how many standard
// errors it has to stand out by: with ten blocks and every place of the step
// tried, noise alone does so about once in a thousand series.
const (
	levelSize   = 0.10
	levelErrors = 6
)

// LevelChange looks for a step or a slope in the rates of equal spans of time:
// a split into two parts, at least two spans each, whose means differ by a
// tenth and by far more than the spans inside the parts do. It returns the
// relative difference, positive when the later part is faster.
func LevelChange(rates []float64) (shift float64, found bool) {
	n := len(rates)
	mean := meanOf(rates)
	if n < 6 || mean <= 0 {
		return 0, false
	}
	best := 0.0
	for k := 2; k <= n-2; k++ {
		left, right := meanOf(rates[:k]), meanOf(rates[k:])
		squares := 0.0
		for i, v := range rates {
			m := left
			if i >= k {
				m = right
			}
			squares += (v - m) * (v - m)
		}
		se := math.Sqrt(squares / float64(n-2) * (1/float64(k) + 1/float64(n-k)))
		difference := right - left
		if score := math.Abs(difference) / max(se, 1e-9*mean); score > levelErrors && score > best && math.Abs(difference) >= levelSize*mean {
			best, shift, found = score, difference/mean, true
		}
	}
	return shift, found
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// MiddleAndMax returns the median and the largest of values; ok is false when
// there are none or one of them is not finite.
func MiddleAndMax(values []float64) (middle, largest float64, ok bool) {
	if len(values) == 0 || !finite(values...) {
		return 0, 0, false
	}
	return medianOf(values), slices.Max(values), true
}
