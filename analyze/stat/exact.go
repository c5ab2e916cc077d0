package stat

import (
	"math/big"
	"slices"
)

// Median returns the middle of values, or the mean of the two middle ones for
// an even number. It neither keeps nor reorders values, and is nil for none.
func Median(values []*big.Rat) *big.Rat {
	sorted := sortedRats(values)
	n := len(sorted)
	if n == 0 {
		return nil
	}
	sum := new(big.Rat).Add(sorted[(n-1)/2], sorted[n/2])
	return sum.Mul(sum, big.NewRat(1, 2))
}

// Range returns the smallest and the largest of values, or nils for none. The
// results are the caller's.
func Range(values []*big.Rat) (low, high *big.Rat) {
	if len(values) == 0 {
		return nil, nil
	}
	sorted := sortedRats(values)
	return new(big.Rat).Set(sorted[0]), new(big.Rat).Set(sorted[len(sorted)-1])
}

func sortedRats(values []*big.Rat) []*big.Rat {
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, (*big.Rat).Cmp)
	return sorted
}

// ChangePct returns (b/a - 1) * 100; ok is false when a is zero.
func ChangePct(a, b *big.Rat) (change *big.Rat, ok bool) {
	if a.Sign() == 0 {
		return nil, false
	}
	change = new(big.Rat).Quo(b, a)
	change.Sub(change, big.NewRat(1, 1))
	return change.Mul(change, big.NewRat(100, 1)), true
}

// Overlap reports whether the closed ranges share a value; touching is sharing.
func Overlap(lowA, highA, lowB, highB *big.Rat) bool {
	return lowA.Cmp(highB) <= 0 && lowB.Cmp(highA) <= 0
}

// DisjointProbability returns the probability that the ranges of na and nb
// values drawn from one continuous distribution share nothing: of the
// C(na+nb, na) equally likely orders, two keep the arms apart. Both counts are
// positive.
func DisjointProbability(na, nb int) *big.Rat {
	orders := new(big.Int).Binomial(int64(na+nb), int64(na))
	return new(big.Rat).SetFrac(big.NewInt(2), orders)
}

// Backfill returns the latencies that a closed loop with a fixed interval left
// out while it waited for one of value, ascending, with value last: what
// HdrHistogram calls the expected interval. An interval of 0 adds none.
func Backfill(value, interval int64) []int64 {
	var recorded []int64
	if interval > 0 && value >= 2*interval {
		for v := value%interval + interval; v < value; v += interval {
			recorded = append(recorded, v)
		}
	}
	return append(recorded, value)
}
