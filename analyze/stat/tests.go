package stat

import (
	"cmp"
	"math"
	"slices"
)

// ranked is a value with its arm, for tests that rank two arms together.
type ranked struct {
	value float64
	b     bool
}

// exactArms bounds the processes of both arms together for which rank tests
// enumerate every order; beyond it they use the normal approximation.
const exactArms = 100

// MannWhitney is the result of the two-sided rank test of two arms.
type MannWhitney struct {
	// UA and UB count the pairs in which A, or B, is larger; a tie counts half.
	UA, UB float64
	// P is twice the smaller tail over all orders of the pooled values, ties
	// kept, at most 1. Exact says that every order was counted.
	P     float64
	Exact bool
}

// ProbBGreater returns the share of pairs in which B is larger, ties half.
func (m MannWhitney) ProbBGreater() float64 { return m.UB / (m.UA + m.UB) }

// MannWhitneyTest compares two arms; ok is false when one has no values.
func MannWhitneyTest(a, b []float64) (result MannWhitney, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return MannWhitney{}, false
	}
	pooled := make([]ranked, 0, len(a)+len(b))
	for _, v := range a {
		pooled = append(pooled, ranked{v, false})
	}
	for _, v := range b {
		pooled = append(pooled, ranked{v, true})
	}
	slices.SortFunc(pooled, func(x, y ranked) int { return cmp.Compare(x.value, y.value) })
	// Doubled midranks are integers.
	ranks := make([]int, len(pooled))
	observed, ties := 0, 0.0
	for i := 0; i < len(pooled); {
		j := i
		for j < len(pooled) && pooled[j].value == pooled[i].value {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		for k := i; k < j; k++ {
			ranks[k] = i + j + 1
			if pooled[k].b {
				observed += ranks[k]
			}
		}
		i = j
	}
	na, nb := len(a), len(b)
	result.UB = float64(observed-nb*(nb+1)) / 2
	result.UA = float64(na*nb) - result.UB
	if na+nb > exactArms {
		n := float64(na + nb)
		variance := float64(na) * float64(nb) / 12 * (n + 1 - ties/(n*(n-1)))
		result.P = normalTwoSided(math.Abs(result.UA-result.UB)/2-0.5, variance)
		return result, true
	}
	result.Exact = true
	result.P = doubledTail(subsetSums(ranks, nb), observed)
	return result, true
}

// subsetSums returns how many subsets of size items have each sum.
func subsetSums(items []int, size int) []float64 {
	total := 0
	for _, v := range items {
		total += v
	}
	counts := make([][]float64, size+1)
	for k := range counts {
		counts[k] = make([]float64, total+1)
	}
	counts[0][0] = 1
	reached := 0
	for i, v := range items {
		reached += v
		for k := min(i+1, size); k > 0; k-- {
			for s := reached; s >= v; s-- {
				counts[k][s] += counts[k-1][s-v]
			}
		}
	}
	return counts[size]
}

// doubledTail returns twice the smaller tail of a distribution of weights at
// the observed index, at most 1.
func doubledTail(weights []float64, observed int) float64 {
	var lower, upper, total float64
	for s, w := range weights {
		total += w
		if s <= observed {
			lower += w
		}
		if s >= observed {
			upper += w
		}
	}
	return min(1, 2*min(lower, upper)/total)
}

func normalTwoSided(distance, variance float64) float64 {
	if variance <= 0 || distance <= 0 {
		return 1
	}
	return math.Erfc(distance / math.Sqrt(2*variance))
}

// MannWhitneyMinP returns the smallest p that the test can give for na and nb
// values without ties.
func MannWhitneyMinP(na, nb int) float64 {
	p, _ := DisjointProbability(na, nb).Float64()
	return p
}

// PairedMinP returns the smallest p that the sign test and the signed-rank
// test can give for n pairs.
func PairedMinP(n int) float64 { return min(1, math.Ldexp(1, 1-n)) }

// SignedRank is the result of Wilcoxon's signed-rank test over the rounds.
type SignedRank struct {
	N      int     // pairs that differ
	WPlus  float64 // sum of the midranks of positive differences
	WMinus float64
	P      float64 // two-sided, over all signs, ties kept; 1 when none differ
	Exact  bool
}

// SignedRankTest takes the differences of pairs; zeros are left out.
func SignedRankTest(differences []float64) SignedRank {
	var d []float64
	for _, v := range differences {
		if v != 0 {
			d = append(d, v)
		}
	}
	if len(d) == 0 {
		return SignedRank{P: 1, Exact: true}
	}
	slices.SortFunc(d, func(x, y float64) int { return cmp.Compare(math.Abs(x), math.Abs(y)) })
	ranks := make([]int, len(d))
	observed, total, squares := 0, 0, 0.0
	for i := 0; i < len(d); {
		j := i
		for j < len(d) && sameMagnitude(d[j], d[i]) {
			j++
		}
		for k := i; k < j; k++ {
			ranks[k] = i + j + 1
			total += ranks[k]
			squares += float64(ranks[k]*ranks[k]) / 4
			if d[k] > 0 {
				observed += ranks[k]
			}
		}
		i = j
	}
	result := SignedRank{N: len(d), WPlus: float64(observed) / 2, WMinus: float64(total-observed) / 2}
	if len(d) > exactArms {
		result.P = normalTwoSided(math.Abs(result.WPlus-result.WMinus)/2-0.5, squares/4)
		return result
	}
	counts := make([]float64, total+1)
	counts[0] = 1
	for i, reached := 0, 0; i < len(ranks); i++ {
		reached += ranks[i]
		for s := reached; s >= ranks[i]; s-- {
			counts[s] += counts[s-ranks[i]]
		}
	}
	result.P, result.Exact = doubledTail(counts, observed), true
	return result
}

// sameMagnitude takes differences for tied that only the last bits of a
// subtraction keep apart.
func sameMagnitude(x, y float64) bool {
	x, y = math.Abs(x), math.Abs(y)
	return math.Abs(x-y) <= 1e-9*max(x, y)
}

// SignTest returns how many differences are positive and how many differ, with
// the two-sided exact p.
func SignTest(differences []float64) (positive, differing int, p float64) {
	for _, v := range differences {
		if v > 0 {
			positive++
		}
		if v != 0 {
			differing++
		}
	}
	if differing == 0 {
		return 0, 0, 1
	}
	tail := binomialTails(differing, 0.5)
	return positive, differing, min(1, 2*min(tail.atMost(positive), tail.atLeast(positive)))
}

// Kendall is the rank correlation of series with their order.
type Kendall struct {
	Tau   float64 // tau-b, -1 to 1
	P     float64 // two-sided
	Exact bool
	N     int
}

// exactPairs bounds the pairs for which KendallTrend counts every order.
const exactPairs = 5000

// KendallTrend asks whether series rise or fall with their positions, all
// together: a value is compared only with others of its own series, so that
// series of different levels can be joined. ok is false when no two values of a
// series differ.
func KendallTrend(series ...[]float64) (k Kendall, ok bool) {
	concordance, tied, pairs := 0, 0, 0
	variance := 0.0
	for _, s := range series {
		n := len(s)
		k.N += n
		pairs += n * (n - 1) / 2
		for i := range s {
			for j := i + 1; j < n; j++ {
				if c := cmp.Compare(s[j], s[i]); c == 0 {
					tied++
				} else {
					concordance += c
				}
			}
		}
		variance += kendallVariance(s)
	}
	if tied == pairs {
		return Kendall{}, false
	}
	k.Tau = float64(concordance) / math.Sqrt(float64(pairs)*float64(pairs-tied))
	if tied == 0 && pairs <= exactPairs {
		inversions := []float64{1}
		for _, s := range series {
			inversions = addInversions(inversions, len(s))
		}
		k.P, k.Exact = doubledTail(inversions, (pairs-concordance)/2), true
		return k, true
	}
	k.P = normalTwoSided(math.Abs(float64(concordance)), variance)
	return k, true
}

// addInversions convolves a distribution of inversions with that of a random
// permutation of n, built by inserting one element after another.
func addInversions(distribution []float64, n int) []float64 {
	for m := 2; m <= n; m++ {
		next := make([]float64, len(distribution)+m-1)
		window := 0.0
		for s := range next {
			if s < len(distribution) {
				window += distribution[s]
			}
			if s >= m {
				window -= distribution[s-m]
			}
			next[s] = max(0, window/float64(m))
		}
		distribution = next
	}
	return distribution
}

// kendallVariance is the variance of the concordance of a series under no
// trend, for the ties that it has.
func kendallVariance(series []float64) float64 {
	variance := func(t float64) float64 { return t * (t - 1) * (2*t + 5) / 18 }
	sorted := slices.Sorted(slices.Values(series))
	sum := variance(float64(len(series)))
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		sum -= variance(float64(j - i))
		i = j
	}
	return sum
}

// Holm, Bonferroni and BenjaminiHochberg adjust the p-values of one family and
// return them in the same order.
func Holm(p []float64) []float64 {
	adjusted, order := make([]float64, len(p)), orderOf(p)
	running := 0.0
	for i, at := range order {
		running = max(running, min(1, p[at]*float64(len(p)-i)))
		adjusted[at] = running
	}
	return adjusted
}

// Bonferroni multiplies each p by the size of the family.
func Bonferroni(p []float64) []float64 {
	adjusted := make([]float64, len(p))
	for i := range p {
		adjusted[i] = min(1, p[i]*float64(len(p)))
	}
	return adjusted
}

// BenjaminiHochberg controls the share of false findings among the findings.
func BenjaminiHochberg(p []float64) []float64 {
	adjusted, order := make([]float64, len(p)), orderOf(p)
	running := 1.0
	for i := len(order) - 1; i >= 0; i-- {
		running = min(running, p[order[i]]*float64(len(p))/float64(i+1))
		adjusted[order[i]] = running
	}
	return adjusted
}

func orderOf(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}

// Balance describes an order of execution of two arms.
type Balance struct {
	MeanSlotA, MeanSlotB float64 // slots count from 1
	// FirstA counts the adjacent pairs in which A comes first.
	FirstA int
}

// DriftBias is how many slots later B runs on average: what a linear drift
// would add to the difference of the arms.
func (b Balance) DriftBias() float64 { return b.MeanSlotB - b.MeanSlotA }

// OrderBalance takes the order of one cell's processes, true for A. ok is false
// when an arm is missing.
func OrderBalance(order []bool) (balance Balance, ok bool) {
	var na, nb float64
	for i, a := range order {
		if a {
			na++
			balance.MeanSlotA += float64(i + 1)
			if i%2 == 0 {
				balance.FirstA++
			}
		} else {
			nb++
			balance.MeanSlotB += float64(i + 1)
		}
	}
	if na == 0 || nb == 0 {
		return Balance{}, false
	}
	balance.MeanSlotA /= na
	balance.MeanSlotB /= nb
	return balance, true
}
