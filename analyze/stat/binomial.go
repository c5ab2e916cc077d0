package stat

import "math"

// binomial holds the probabilities of 0 to n successes.
type binomial []float64

// binomialTails computes the distribution from its mode outwards, so that large
// n neither underflow at the start nor lose digits in logarithms.
func binomialTails(n int, p float64) binomial {
	pmf := make(binomial, n+1)
	mode := min(n, int(float64(n+1)*p))
	pmf[mode] = 1
	odds := p / (1 - p)
	for k := mode; k < n; k++ {
		pmf[k+1] = pmf[k] * float64(n-k) / float64(k+1) * odds
	}
	for k := mode; k > 0; k-- {
		pmf[k-1] = pmf[k] * float64(k) / float64(n-k+1) / odds
	}
	total := 0.0
	for _, v := range pmf {
		total += v
	}
	for k := range pmf {
		pmf[k] /= total
	}
	return pmf
}

func (b binomial) atMost(k int) float64 {
	sum := 0.0
	for i := 0; i <= k && i < len(b); i++ {
		sum += b[i]
	}
	return min(1, sum)
}

func (b binomial) atLeast(k int) float64 {
	sum := 0.0
	for i := len(b) - 1; i >= k && i >= 0; i-- {
		sum += b[i]
	}
	return min(1, sum)
}

// BinomialAtLeast returns the probability of at least k successes in n trials
// of probability p, 0 < p < 1.
func BinomialAtLeast(n, k int, p float64) float64 { return binomialTails(n, p).atLeast(k) }

// RankInterval is an interval between two order statistics, ranks counted from
// 1. A rank of 0 means that no sample bounds this side.
type RankInterval struct {
	Low, High int
	// Level is the probability with which the interval covers the quantile,
	// whatever the distribution; at least what was asked for.
	Level float64
}

// MedianRanks returns the narrowest symmetric interval of order statistics that
// covers the median with at least level; ok is false when even the full range
// of n values does not.
func MedianRanks(n int, level float64) (interval RankInterval, ok bool) {
	if n < 1 {
		return RankInterval{}, false
	}
	tails := binomialTails(n, 0.5)
	below := 0.0
	for low := 1; low <= n/2; low++ {
		below += tails[low-1]
		if attained := 1 - 2*below; attained >= level-1e-12 {
			interval, ok = RankInterval{low, n + 1 - low, attained}, true
			continue
		}
		break
	}
	return interval, ok
}

// QuantileRanks returns the interval of order statistics that covers the
// quantile q, 0 < q < 1, each tail holding at most (1-level)/2.
func QuantileRanks(n int, q, level float64) RankInterval {
	tails := binomialTails(n, q)
	alpha := (1 - level) / 2
	interval := RankInterval{Level: 1}
	below := 0.0
	for k := 0; k < n && below+tails[k] <= alpha; k++ {
		below += tails[k]
		interval.Low = k + 1
	}
	above := 0.0
	for k := n; k > 0 && above+tails[k] <= alpha; k-- {
		above += tails[k]
		interval.High = k
	}
	interval.Level = 1 - below - above
	return interval
}

// finite reports whether every value is neither infinite nor NaN.
func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return false
		}
	}
	return true
}
