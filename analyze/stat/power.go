package stat

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// Design says how the processes of two arms are compared.
type Design int

// The designs that DetectableEffect knows.
const (
	TwoSample Design = iota // n processes per arm, unpaired
	Paired                  // n rounds
)

// DetectableEffect returns the smallest true difference, in standard deviations
// of one arm (TwoSample) or of the rounds' differences (Paired), that a
// two-sided t test at alpha finds with the given power. ok is false for n < 2.
func DetectableEffect(design Design, n int, alpha, power float64) (effect float64, ok bool) {
	if n < 2 || alpha <= 0 || alpha >= 1 || power <= alpha || power >= 1 {
		return 0, false
	}
	nu, perSD := float64(2*(n-1)), math.Sqrt(float64(n)/2)
	if design == Paired {
		nu, perSD = float64(n-1), math.Sqrt(float64(n))
	}
	critical := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Quantile(1 - alpha/2)
	low, high := 0.0, 1.0
	for tPower(critical, nu, high) < power {
		low, high = high, 2*high
		if high > 1e6 {
			return 0, false
		}
	}
	for range 60 {
		mid := (low + high) / 2
		if tPower(critical, nu, mid) < power {
			low = mid
		} else {
			high = mid
		}
	}
	effect = high / perSD
	return effect, finite(effect)
}

// tPower is the probability that a noncentral t with nu degrees of freedom and
// noncentrality delta lies outside -critical to critical: an integral over the
// chi that scales it.
func tPower(critical, nu, delta float64) float64 {
	chi := distuv.ChiSquared{K: nu}
	outside := func(s float64) float64 {
		// s is the square root of a chi-squared over nu.
		density := math.Exp(chi.LogProb(s*s*nu)) * 2 * s * nu
		upper := distuv.UnitNormal.Survival(critical*s - delta)
		lower := distuv.UnitNormal.CDF(-critical*s - delta)
		return density * (upper + lower)
	}
	spread := 12 / math.Sqrt(2*nu)
	from, to := max(1e-9, 1-spread), 1+spread
	const parts = 16
	sum := 0.0
	for i := range parts {
		a := from + (to-from)*float64(i)/parts
		sum += quad.Fixed(outside, a, a+(to-from)/parts, 20, quad.Legendre{}, 0)
	}
	return sum
}
