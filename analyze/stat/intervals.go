package stat

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate of a change in percent with its confidence interval.
type Interval struct {
	Estimate, Low, High float64 // percent
	// Level is the coverage that the interval attains, not the one asked for.
	Level float64
}

func (i Interval) finite() bool { return finite(i.Estimate, i.Low, i.High, i.Level) }

func changeOf(ratio float64) float64 { return (ratio - 1) * 100 }

func medianOf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// medianRatioOf is the median of ratios on the scale of their logarithms: the
// geometric mean of the two middle ones for an even number.
func medianRatioOf(ratios []float64) float64 {
	sorted := slices.Sorted(slices.Values(ratios))
	low, high := sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
	if low == high {
		return low
	}
	return math.Sqrt(low) * math.Sqrt(high)
}

// MedianRatio returns median(b)/median(a); ok is false when it is undefined.
func MedianRatio(a, b []float64) (ratio float64, ok bool) {
	if len(a) == 0 || len(b) == 0 {
		return 0, false
	}
	ratio = medianOf(b) / medianOf(a)
	return ratio, finite(ratio)
}

// RangeRatio returns the change of the medians with the interval from
// min(b)/max(a) to max(b)/min(a): it covers a common factor between the arms
// unless chance kept their ranges apart. ok is false when a value is not
// positive.
func RangeRatio(a, b []float64) (interval Interval, ok bool) {
	ratio, ok := MedianRatio(a, b)
	if !ok || !positive(a) || !positive(b) {
		return Interval{}, false
	}
	apart, _ := DisjointProbability(len(a), len(b)).Float64()
	interval = Interval{
		Estimate: changeOf(ratio),
		Low:      changeOf(slices.Min(b) / slices.Max(a)),
		High:     changeOf(slices.Max(b) / slices.Min(a)),
		Level:    1 - apart,
	}
	return interval, interval.finite()
}

func positive(values []float64) bool {
	for _, v := range values {
		if !(v > 0) {
			return false
		}
	}
	return true
}

// HodgesLehmann returns the median of all ratios b/a as a change, with the
// narrowest symmetric interval of those ratios that attains level; ok is false
// when none does or a value is not positive.
func HodgesLehmann(a, b []float64, level float64) (interval Interval, ok bool) {
	if !positive(a) || !positive(b) {
		return Interval{}, false
	}
	index, attained, ok := PairRank(len(a), len(b), level)
	if !ok {
		return Interval{}, false
	}
	ratios := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			ratios = append(ratios, y/x)
		}
	}
	slices.Sort(ratios)
	interval = Interval{
		Estimate: changeOf(medianRatioOf(ratios)),
		Low:      changeOf(ratios[index-1]),
		High:     changeOf(ratios[len(ratios)-index]),
		Level:    attained,
	}
	return interval, interval.finite()
}

// PairRank returns the largest k for which the k-th smallest and the k-th
// largest of the na*nb pairwise differences (or ratios) enclose the true one
// with at least level. ok is false when not even k = 1 does, or when the arms
// have more processes together than can be enumerated.
func PairRank(na, nb int, level float64) (k int, attained float64, ok bool) {
	if na < 1 || nb < 1 || na+nb > exactArms {
		return 0, 0, false
	}
	ranks := make([]int, na+nb)
	for i := range ranks {
		ranks[i] = i + 1
	}
	sums := subsetSums(ranks, nb)
	total := 0.0
	for _, w := range sums {
		total += w
	}
	below := 0.0
	for u := 0; u < na*nb; u++ {
		below += sums[u+nb*(nb+1)/2] / total
		if 1-2*below < level-1e-12 {
			break
		}
		k, attained, ok = u+1, 1-2*below, true
	}
	return k, attained, ok
}

// PairedRatios returns b/a of each round, for the statistics over rounds; ok is
// false when the arms differ in length or a value is not positive.
func PairedRatios(a, b []float64) (ratios []float64, ok bool) {
	if len(a) == 0 || len(a) != len(b) || !positive(a) || !positive(b) {
		return nil, false
	}
	for i := range a {
		ratios = append(ratios, b[i]/a[i])
	}
	return ratios, finite(ratios...)
}

// PairedHodgesLehmann returns the change at the median of the geometric means
// of every two ratios, each with itself included.
func PairedHodgesLehmann(ratios []float64) float64 {
	logs := make([]float64, 0, len(ratios)*(len(ratios)+1)/2)
	for i, r := range ratios {
		for _, s := range ratios[i:] {
			logs = append(logs, (math.Log(r)+math.Log(s))/2)
		}
	}
	return changeOf(math.Exp(medianOf(logs)))
}

// MedianRankInterval returns the median of the rounds' ratios as a change, with
// the interval of order statistics that attains level; ok is false when the
// rounds are too few for it.
func MedianRankInterval(ratios []float64, level float64) (interval Interval, ok bool) {
	ranks, ok := MedianRanks(len(ratios), level)
	if !ok {
		return Interval{}, false
	}
	sorted := slices.Sorted(slices.Values(ratios))
	interval = Interval{
		Estimate: changeOf(medianRatioOf(ratios)),
		Low:      changeOf(sorted[ranks.Low-1]),
		High:     changeOf(sorted[ranks.High-1]),
		Level:    ranks.Level,
	}
	return interval, interval.finite()
}

// GeometricMean returns the geometric mean of ratios as a change; ok is false
// for none.
func GeometricMean(ratios []float64) (changePct float64, ok bool) {
	if len(ratios) == 0 || !positive(ratios) {
		return 0, false
	}
	sum := 0.0
	for _, r := range ratios {
		sum += math.Log(r)
	}
	changePct = changeOf(math.Exp(sum / float64(len(ratios))))
	return changePct, finite(changePct)
}

// PairedT returns the geometric mean of the rounds' ratios as a change, with
// Student's interval and the two-sided p on their logarithms. It rests on the
// model that the logarithms are normal. ok is false for fewer than two rounds
// or ratios that do not vary.
func PairedT(ratios []float64, level float64) (interval Interval, p float64, ok bool) {
	n := float64(len(ratios))
	if n < 2 || !positive(ratios) {
		return Interval{}, 0, false
	}
	mean, squares := 0.0, 0.0
	for _, r := range ratios {
		mean += math.Log(r) / n
	}
	for _, r := range ratios {
		d := math.Log(r) - mean
		squares += d * d
	}
	se := math.Sqrt(squares / (n - 1) / n)
	if se <= 1e-15*math.Abs(mean) || se == 0 {
		return Interval{}, 0, false
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}
	half := t.Quantile(0.5+level/2) * se
	interval = Interval{
		Estimate: changeOf(math.Exp(mean)),
		Low:      changeOf(math.Exp(mean - half)),
		High:     changeOf(math.Exp(mean + half)),
		Level:    level,
	}
	p = min(1, 2*t.CDF(-math.Abs(mean/se)))
	return interval, p, interval.finite() && finite(p)
}

// bootstrapWeights returns the probabilities with which the median of n draws
// from n sorted values is the mean of the i-th and the j-th, counted from 0 and
// i <= j.
func bootstrapWeights(n int) map[[2]int]float64 {
	weights := map[[2]int]float64{}
	if n%2 == 1 {
		previous := 0.0
		for i := range n {
			reached := binomialAt(n, float64(i+1)/float64(n), n/2+1)
			weights[[2]int{i, i}] = reached - previous
			previous = reached
		}
		return weights
	}
	h := n / 2
	power := func(k int) float64 { return math.Pow(float64(k)/float64(n), float64(h)) }
	ways := math.Exp(lchoose(n, h))
	previous := 0.0
	for i := range n {
		reached := binomialAt(n, float64(i+1)/float64(n), h) // the h-th draw is at most i
		single := reached - previous
		previous = reached
		for j := i + 1; j < n; j++ {
			w := ways * (power(i+1) - power(i)) * (power(n-j) - power(n-j-1))
			weights[[2]int{i, j}] = w
			single -= w
		}
		weights[[2]int{i, i}] = max(0, single)
	}
	return weights
}

func binomialAt(n int, p float64, k int) float64 {
	if p >= 1 {
		return 1
	}
	return BinomialAtLeast(n, k, p)
}

func lchoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// ExactBootstrap returns the change of the medians with the percentile interval
// of the whole bootstrap distribution of median(b)/median(a), the arms
// resampled apart, without random numbers. ok is false when it is undefined.
func ExactBootstrap(a, b []float64, level float64) (interval Interval, ok bool) {
	ratio, ok := MedianRatio(a, b)
	if !ok || !positive(a) || !positive(b) {
		return Interval{}, false
	}
	type outcome struct{ ratio, weight float64 }
	medians := func(values []float64) []outcome {
		sorted := slices.Sorted(slices.Values(values))
		var out []outcome
		for at, w := range bootstrapWeights(len(values)) {
			out = append(out, outcome{(sorted[at[0]] + sorted[at[1]]) / 2, w})
		}
		return out
	}
	var all []outcome
	for _, x := range medians(a) {
		for _, y := range medians(b) {
			all = append(all, outcome{y.ratio / x.ratio, x.weight * y.weight})
		}
	}
	slices.SortFunc(all, func(x, y outcome) int {
		if x.ratio != y.ratio {
			return int(math.Copysign(1, x.ratio-y.ratio))
		}
		return int(math.Copysign(1, x.weight-y.weight)) // the same sum whatever the map's order
	})
	quantile := func(p float64) float64 {
		sum := 0.0
		for _, o := range all {
			if sum += o.weight; sum >= p-1e-12 {
				return o.ratio
			}
		}
		return all[len(all)-1].ratio
	}
	alpha := (1 - level) / 2
	interval = Interval{changeOf(ratio), changeOf(quantile(alpha)), changeOf(quantile(1 - alpha)), level}
	return interval, interval.finite()
}

// Replicate draws what a process would have given if its requests were drawn
// again from those it made.
type Replicate func(*rand.Rand) float64

// Fixed returns a replicate that is always v: for metrics of a whole process.
func Fixed(v float64) Replicate { return func(*rand.Rand) float64 { return v } }

// ReplicateRank returns the replicate of the k-th smallest of n samples, drawn
// with replacement. The window holds, sorted, the samples of the ranks from
// first on; a draw outside it takes its nearest end.
//
// The k-th of n uniform draws is Beta(k, n+1-k), so that one draw stands for n.
func ReplicateRank(window []int64, first, n, k int64) Replicate {
	return func(random *rand.Rand) float64 {
		beta := distuv.Beta{Alpha: float64(k), Beta: float64(n + 1 - k), Src: random}
		at := int64(beta.Rand()*float64(n)) + 1 - first
		return float64(window[max(0, min(at, int64(len(window))-1))])
	}
}

// ReplicateWindow returns the ranks around that of p which a window for
// ReplicateRank has to hold so that a draw leaves it less than once in 10^15.
func ReplicateWindow(p Percentile, n int64) (low, high int64) {
	k := p.Rank(n)
	share := float64(k) / float64(n+1)
	reach := int64(8*math.Sqrt(float64(n)*share*(1-share))) + 32
	return max(1, k-reach), min(n, k+reach)
}

// TwoLevelBootstrap resamples processes and, inside each, its requests, and
// returns the change of the arms' medians with the percentile interval of
// draws resamples. The same seed gives the same interval. ok is false when it
// is undefined.
func TwoLevelBootstrap(a, b []Replicate, estimate, level float64, draws int, seed uint64) (interval Interval, ok bool) {
	if len(a) == 0 || len(b) == 0 || draws < 1 {
		return Interval{}, false
	}
	random := rand.New(rand.NewPCG(seed, 0))
	resample := func(arm []Replicate, values []float64) float64 {
		for i := range values {
			values[i] = arm[random.IntN(len(arm))](random)
		}
		slices.Sort(values)
		return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	}
	valuesA, valuesB := make([]float64, len(a)), make([]float64, len(b))
	ratios := make([]float64, draws)
	for i := range ratios {
		ratios[i] = resample(b, valuesB) / resample(a, valuesA)
	}
	slices.Sort(ratios)
	at := func(p float64) float64 {
		k := int(math.Ceil(p*float64(draws))) - 1
		return ratios[max(0, min(k, draws-1))]
	}
	alpha := (1 - level) / 2
	interval = Interval{estimate, changeOf(at(alpha)), changeOf(at(1 - alpha)), level}
	return interval, interval.finite()
}
