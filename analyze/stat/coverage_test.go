package stat

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var draws = flag.Int("draws", 1000, "collections drawn by the coverage tests")

// TestCoverage draws collections whose true change is known and counts how
// often each interval holds it: as often as it says, within the error of so
// many draws, and from whatever distribution, unless it names a model.
func TestCoverage(t *testing.T) {
	const trueChange = 7.0
	noises := map[string]func(*rand.Rand) float64{
		"normal logarithms": func(r *rand.Rand) float64 { return math.Exp(0.02 * r.NormFloat64()) },
		"skewed":            func(r *rand.Rand) float64 { return 1 + 0.02*r.ExpFloat64() },
		"heavy tails":       func(r *rand.Rand) float64 { return math.Exp(0.01 * r.NormFloat64() / math.Sqrt(r.Float64()+0.01)) },
	}
	methods := []struct {
		name     string
		n        []int
		anyNoise bool
		paired   bool
		compute  func(a, b []float64) (Interval, bool)
	}{
		{"range ratio", []int{3, 4}, true, false, RangeRatio},
		{"Hodges-Lehmann", []int{5, 6, 10}, true, false, func(a, b []float64) (Interval, bool) { return HodgesLehmann(a, b, 0.95) }},
		{"median rank interval", []int{6, 10}, true, true, func(a, b []float64) (Interval, bool) {
			ratios, _ := PairedRatios(a, b)
			return MedianRankInterval(ratios, 0.95)
		}},
		{"paired t on logarithms", []int{6, 10}, false, true, func(a, b []float64) (Interval, bool) {
			ratios, _ := PairedRatios(a, b)
			i, _, ok := PairedT(ratios, 0.95)
			return i, ok
		}},
	}
	for _, m := range methods {
		for _, n := range m.n {
			for name, noise := range noises {
				if !m.anyNoise && name != "normal logarithms" {
					continue
				}
				t.Run(fmt.Sprintf("%s/n=%d/%s", m.name, n, name), func(t *testing.T) {
					random := rand.New(rand.NewPCG(uint64(n), 99))
					covered, level := 0, 0.0
					for range *draws {
						a, b := make([]float64, n), make([]float64, n)
						for i := range a {
							a[i], b[i] = 1000*noise(random), 1000*(1+trueChange/100)*noise(random)
						}
						interval, ok := m.compute(a, b)
						if !ok {
							t.Fatal("no interval")
						}
						level = interval.Level
						if interval.Low <= trueChange && trueChange <= interval.High {
							covered++
						}
					}
					checkRate(t, float64(covered)/float64(*draws), level)
				})
			}
		}
	}
}

// checkRate allows four standard errors: with the seed given, a miss is a
// fault, not bad luck.
func checkRate(t *testing.T, got, want float64) {
	t.Helper()
	se := math.Sqrt(want * (1 - want) / float64(*draws))
	t.Logf("level %.4f, covered %.4f, standard error %.4f", want, got, se)
	if math.Abs(got-want) > 4*se {
		t.Errorf("covered %.4f of %d draws, the level is %.4f", got, *draws, want)
	}
}

// TestCoverageRankIntervals does the same for the rank intervals of the median
// and of quantiles, over samples of a continuous distribution.
func TestCoverageRankIntervals(t *testing.T) {
	for _, c := range []struct {
		n int
		q float64
	}{{6, 0.5}, {25, 0.5}, {100, 0.5}, {100, 0.99}, {1024, 0.99}} {
		t.Run(fmt.Sprintf("n=%d/q=%v", c.n, c.q), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(c.n), 5))
			interval := QuantileRanks(c.n, c.q, 0.95)
			covered := 0
			for range *draws {
				// The quantile of a uniform draw is q itself: it lies between the
				// ranks exactly when so many draws lie below it.
				below := 0
				for range c.n {
					if random.Float64() < c.q {
						below++
					}
				}
				if below >= interval.Low && (interval.High == 0 || below < interval.High) {
					covered++
				}
			}
			checkRate(t, float64(covered)/float64(*draws), interval.Level)
		})
	}
}

// TestCoverageTests counts false alarms: a test at its smallest p that is at
// most 5 % may raise one in as many collections of equal arms, and no more.
func TestCoverageTests(t *testing.T) {
	for _, n := range []int{4, 6, 10} {
		random := rand.New(rand.NewPCG(uint64(n), 17))
		mannWhitney, signedRank := 0, 0
		for range *draws {
			a, b, d := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range a {
				a[i], b[i] = random.ExpFloat64(), random.ExpFloat64()
				d[i] = b[i] - a[i]
			}
			if result, _ := MannWhitneyTest(a, b); result.P <= 0.05 {
				mannWhitney++
			}
			if SignedRankTest(d).P <= 0.05 {
				signedRank++
			}
		}
		limit := 0.05 + 4*math.Sqrt(0.05*0.95/float64(*draws))
		for name, count := range map[string]int{"Mann-Whitney": mannWhitney, "signed rank": signedRank} {
			if rate := float64(count) / float64(*draws); rate > limit {
				t.Errorf("%s at n = %d calls %.4f of equal arms different", name, n, rate)
			}
		}
	}
}

// TestCoverageBootstrap draws processes that differ and requests inside them.
// The two-level bootstrap is approximate: with ten processes it covers a little
// less or more than it says, and the test holds it to within three points.
func TestCoverageBootstrap(t *testing.T) {
	const n, requests, truth = 10, 400, 7.0
	random := rand.New(rand.NewPCG(3, 4))
	collections := min(*draws, 10_000) / 5
	covered := 0
	selector := NewSelector()
	k := P50.Rank(requests)
	for range collections {
		arm := func(scale float64) (replicates []Replicate, values []float64) {
			for range n {
				level := scale * math.Exp(0.02*random.NormFloat64())
				samples := make([]int64, requests)
				for i := range samples {
					samples[i] = int64(100_000 * level * math.Exp(0.1*random.NormFloat64()))
				}
				low, high := ReplicateWindow(P50, requests)
				window, _, err := selector.Between(Slice(samples), func(int64) (int64, int64) { return low, high })
				if err != nil {
					t.Fatal(err)
				}
				replicates = append(replicates, ReplicateRank(window, low, requests, k))
				values = append(values, float64(window[k-low]))
			}
			return replicates, values
		}
		a, valuesA := arm(1)
		b, valuesB := arm(1 + truth/100)
		ratio, _ := MedianRatio(valuesA, valuesB)
		interval, ok := TwoLevelBootstrap(a, b, changeOf(ratio), 0.95, 400, random.Uint64())
		if !ok {
			t.Fatal("no interval")
		}
		if interval.Low <= truth && truth <= interval.High {
			covered++
		}
	}
	rate := float64(covered) / float64(collections)
	t.Logf("covered %.4f of %d collections", rate, collections)
	if rate < 0.92-4*math.Sqrt(0.95*0.05/float64(collections)) {
		t.Errorf("covered %.4f of %d collections, the level is 0.95", rate, collections)
	}
}
