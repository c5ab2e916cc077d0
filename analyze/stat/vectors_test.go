package stat

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The vectors were computed independently, in R, in scipy and by enumeration.

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// readCSV returns the rows of a file as maps from column to text.
func readCSV(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var rows []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, column := range records[0] {
			row[column] = record[i]
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		t.Fatalf("checker is broken: %s has no rows", name)
	}
	return rows
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func list(t *testing.T, s string) []float64 {
	t.Helper()
	var v []float64
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	within(t, what, got, want, 1e-9*max(math.Abs(want), 1e-3))
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.12g, want %.12g within %.3g", what, got, want, tolerance)
	}
}

func TestVectorPercentileRanks(t *testing.T) {
	for _, row := range readCSV(t, "percentile_ranks.csv") {
		p, err := ParsePercentile(row["percentile"])
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.ParseInt(row["n"], 10, 64)
		if got, want := p.Rank(n), row["nearest_rank"]; strconv.FormatInt(got, 10) != want {
			t.Errorf("rank of P%s among %d is %d, want %s", row["percentile"], n, got, want)
		}
	}
}

func TestVectorPercentiles(t *testing.T) {
	var cases []struct {
		Case        string
		Values      []float64
		Percentiles map[string]struct {
			NearestRank float64 `json:"nearest_rank"`
			Rank        int64
		}
	}
	readJSON(t, "percentiles.json", &cases)
	selector := NewSelector()
	for _, c := range cases {
		values := make([]int64, len(c.Values))
		for i, v := range c.Values {
			if values[i] = int64(v); float64(values[i]) != v {
				t.Fatalf("checker is broken: %s holds %v, which is no integer", c.Case, v)
			}
		}
		for name, want := range c.Percentiles {
			p, err := ParsePercentile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]int64, 1)
			n, err := selector.Percentiles(Slice(values), []Percentile{p}, got)
			if err != nil || n != int64(len(values)) {
				t.Fatalf("%s: %d samples, %v", c.Case, n, err)
			}
			if float64(got[0]) != want.NearestRank || p.Rank(n) != want.Rank {
				t.Errorf("%s: P%s is %d at rank %d, want %v at %d", c.Case, name, got[0], p.Rank(n), want.NearestRank, want.Rank)
			}
		}
	}
}

func TestVectorChangeAndOverlap(t *testing.T) {
	var cases []struct {
		Case          string
		A, B          []json.Number
		AMedian       json.Number  `json:"A_median"`
		BMedian       json.Number  `json:"B_median"`
		ChangePct     *json.Number `json:"change_pct"`
		OverlapClosed bool         `json:"overlap_closed"`
		AMin          json.Number  `json:"A_min"`
		AMax          json.Number  `json:"A_max"`
		BMin          json.Number  `json:"B_min"`
		BMax          json.Number  `json:"B_max"`
	}
	readJSON(t, "summary_change_overlap.json", &cases)
	rat := func(n json.Number) *big.Rat {
		r, ok := new(big.Rat).SetString(n.String())
		if !ok {
			t.Fatalf("%q is no number", n)
		}
		return r
	}
	for _, c := range cases {
		t.Run(c.Case, func(t *testing.T) {
			var a, b []*big.Rat
			for _, n := range c.A {
				a = append(a, rat(n))
			}
			for _, n := range c.B {
				b = append(b, rat(n))
			}
			lowA, highA := Range(a)
			lowB, highB := Range(b)
			for _, pair := range [][2]*big.Rat{
				{Median(a), rat(c.AMedian)}, {Median(b), rat(c.BMedian)},
				{lowA, rat(c.AMin)}, {highA, rat(c.AMax)}, {lowB, rat(c.BMin)}, {highB, rat(c.BMax)},
			} {
				if pair[0].Cmp(pair[1]) != 0 {
					t.Errorf("got %s, want %s", pair[0].RatString(), pair[1].RatString())
				}
			}
			change, ok := ChangePct(Median(a), Median(b))
			if ok != (c.ChangePct != nil) {
				t.Fatalf("change is computable: %v, want %v", ok, c.ChangePct != nil)
			}
			if ok {
				got, _ := change.Float64()
				want, _ := c.ChangePct.Float64()
				near(t, "change", got, want)
			}
			if got := Overlap(lowA, highA, lowB, highB); got != c.OverlapClosed {
				t.Errorf("overlap is %v, want %v", got, c.OverlapClosed)
			}
		})
	}
}

func TestVectorMannWhitney(t *testing.T) {
	for _, row := range readCSV(t, "mann_whitney.csv") {
		t.Run(row["case"], func(t *testing.T) {
			got, ok := MannWhitneyTest(list(t, row["A"]), list(t, row["B"]))
			if !ok || !got.Exact {
				t.Fatalf("ok %v, exact %v", ok, got.Exact)
			}
			near(t, "p", got.P, number(t, row["p_two_sided_doubled_min_tail"]))
			near(t, "U of A", got.UA, number(t, row["U_A_gt_B"]))
			near(t, "U of B", got.UB, number(t, row["U_B_gt_A"]))
			near(t, "P(B > A)", got.ProbBGreater(), number(t, row["prob_B_gt_A"]))
		})
	}
	for _, row := range readCSV(t, "mann_whitney_min_p.csv") {
		n := int(number(t, row["n_per_arm"]))
		near(t, "smallest p", MannWhitneyMinP(n, n), number(t, row["min_two_sided_p"]))
		want := new(big.Rat)
		if _, ok := want.SetString(row["fraction"]); !ok || DisjointProbability(n, n).Cmp(want) != 0 {
			t.Errorf("disjoint by chance with n = %d is %s, want %s", n, DisjointProbability(n, n), row["fraction"])
		}
	}
}

func TestVectorPairedTests(t *testing.T) {
	for _, row := range readCSV(t, "paired_wilcoxon_sign.csv") {
		t.Run(row["case"], func(t *testing.T) {
			a, b := list(t, row["A"]), list(t, row["B"])
			differences := make([]float64, len(a))
			for i := range a {
				if differences[i] = b[i] - a[i]; row["scale"] == "log_ratio" {
					differences[i] = math.Log(b[i] / a[i])
				}
			}
			got := SignedRankTest(differences)
			near(t, "signed-rank p", got.P, number(t, row["wilcoxon_p"]))
			if row["W_plus"] != "" {
				near(t, "W+", got.WPlus, number(t, row["W_plus"]))
				near(t, "W-", got.WMinus, number(t, row["W_minus"]))
				near(t, "differing rounds", float64(got.N), number(t, row["n_nonzero"]))
			}
			positive, _, p := SignTest(differences)
			near(t, "sign p", p, number(t, row["sign_test_p"]))
			if want, _, _ := strings.Cut(row["positive_rounds"], "/"); want != "" && strconv.Itoa(positive) != want {
				t.Errorf("%d positive rounds, want %s", positive, want)
			}
		})
	}
	for _, row := range readCSV(t, "paired_min_p.csv") {
		n := int(number(t, row["n_rounds"]))
		near(t, "smallest p", PairedMinP(n), number(t, row["min_two_sided_p_sign_and_wilcoxon"]))
	}
}

type ciVector struct {
	K         int        `json:"order_index_k"`
	Attained  *float64   `json:"attained"`
	ChangePct []*float64 `json:"change_pct"`
}

func TestVectorHodgesLehmann(t *testing.T) {
	var cases []struct {
		Case          string
		A, B          []float64
		ChangePct     float64  `json:"hl_change_pct"`
		MedianRatio   float64  `json:"ratio_of_medians_change_pct"`
		CI90          ciVector `json:"ci_0.90"`
		CI95          ciVector `json:"ci_0.95"`
		PairedHL      *float64 `json:"paired_hl_change_pct"`
		PairedMedian  *float64 `json:"paired_median_ratio_change_pct"`
		PairedGeomean *float64 `json:"paired_geomean_change_pct"`
	}
	readJSON(t, "hodges_lehmann.json", &cases)
	for _, c := range cases {
		t.Run(c.Case, func(t *testing.T) {
			for level, want := range map[float64]ciVector{0.90: c.CI90, 0.95: c.CI95} {
				got, ok := HodgesLehmann(c.A, c.B, level)
				if ok != (want.Attained != nil) {
					t.Fatalf("an interval at %v: %v, want %v", level, ok, want.Attained != nil)
				}
				if !ok {
					continue
				}
				near(t, "estimate", got.Estimate, c.ChangePct)
				near(t, "attained level", got.Level, *want.Attained)
				near(t, "low", got.Low, *want.ChangePct[0])
				near(t, "high", got.High, *want.ChangePct[1])
				if k, _, _ := PairRank(len(c.A), len(c.B), level); k != want.K {
					t.Errorf("order index is %d, want %d", k, want.K)
				}
			}
			ratio, _ := MedianRatio(c.A, c.B)
			near(t, "ratio of medians", changeOf(ratio), c.MedianRatio)
			if c.PairedHL == nil {
				return
			}
			ratios, ok := PairedRatios(c.A, c.B)
			if !ok {
				t.Fatal("no paired ratios")
			}
			geomean, _ := GeometricMean(ratios)
			near(t, "paired Hodges-Lehmann", PairedHodgesLehmann(ratios), *c.PairedHL)
			near(t, "paired median", changeOf(medianRatioOf(ratios)), *c.PairedMedian)
			near(t, "paired geometric mean", geomean, *c.PairedGeomean)
		})
	}
}

func TestVectorRankIntervals(t *testing.T) {
	for _, row := range readCSV(t, "median_ci_ranks.csv") {
		n := int(number(t, row["n"]))
		got, ok := MedianRanks(n, number(t, row["level_requested"]))
		if strings.EqualFold(row["attainable"], "true") != ok {
			t.Errorf("n %d at %s: attainable %v", n, row["level_requested"], ok)
			continue
		}
		if ok {
			near(t, "low rank", float64(got.Low), number(t, row["lower_rank"]))
			near(t, "high rank", float64(got.High), number(t, row["upper_rank"]))
			near(t, "coverage", got.Level, number(t, row["attained_coverage"]))
		}
	}
	for _, row := range readCSV(t, "quantile_ci_ranks.csv") {
		got := QuantileRanks(int(number(t, row["n"])), number(t, row["q"]), number(t, row["level"]))
		near(t, "low rank", float64(got.Low), number(t, row["lower_rank"]))
		if (row["upper_rank"] == "") != (got.High == 0) {
			t.Errorf("n %s q %s: high rank %d, want %q", row["n"], row["q"], got.High, row["upper_rank"])
		} else if got.High != 0 {
			near(t, "high rank", float64(got.High), number(t, row["upper_rank"]))
		}
		near(t, "coverage", got.Level, number(t, row["attained_coverage"]))
	}
}

func TestVectorExactBootstrap(t *testing.T) {
	var file struct {
		PMF []struct {
			N int
			P []float64 `json:"p_boot_median_at_order_stat"`
		}
		Cases []struct {
			Case   string
			A, B   []float64
			Change float64   `json:"change_pct"`
			CI     []float64 `json:"exact_percentile_ci95_change_pct"`
		}
	}
	readJSON(t, "bootstrap_exact_median_ratio.json", &file)
	for _, c := range file.PMF {
		weights := bootstrapWeights(c.N)
		for i, want := range c.P {
			near(t, fmt.Sprintf("n %d weight %d", c.N, i), weights[[2]int{i, i}], want)
		}
	}
	for _, c := range file.Cases {
		t.Run(c.Case, func(t *testing.T) {
			got, ok := ExactBootstrap(c.A, c.B, 0.95)
			if !ok {
				t.Fatal("no interval")
			}
			near(t, "change", got.Estimate, c.Change)
			near(t, "low", got.Low, c.CI[0])
			near(t, "high", got.High, c.CI[1])
		})
	}
}

func TestVectorTwoLevelBootstrap(t *testing.T) {
	var file struct {
		A, B    [][]int64
		Results map[string]struct {
			PerProcessA []float64   `json:"per_process_A"`
			PerProcessB []float64   `json:"per_process_B"`
			Point       float64     `json:"point_change_pct"`
			CI          [][]float64 `json:"hier_ci95_change_pct_three_seeds"`
			Tolerance   float64     `json:"tolerance_pct_points"`
			ProcessCI   []float64   `json:"process_level_only_ci95_change_pct"`
		}
	}
	readJSON(t, "bootstrap_hierarchical.json", &file)
	percentiles := map[string]Percentile{"p50": P50, "p99": P99}
	for name, want := range file.Results {
		t.Run(name, func(t *testing.T) {
			p := percentiles[name]
			replicates := func(processes [][]int64, values []float64) []Replicate {
				var out []Replicate
				for i, samples := range processes {
					n := int64(len(samples))
					low, high := ReplicateWindow(p, n)
					window, _, err := NewSelector().Between(Slice(samples), func(int64) (int64, int64) { return low, high })
					if err != nil {
						t.Fatal(err)
					}
					k := p.Rank(n)
					near(t, "percentile of the process", float64(window[k-low]), values[i])
					out = append(out, ReplicateRank(window, low, n, k))
				}
				return out
			}
			a, b := replicates(file.A, want.PerProcessA), replicates(file.B, want.PerProcessB)
			ratio, _ := MedianRatio(want.PerProcessA, want.PerProcessB)
			near(t, "change", changeOf(ratio), want.Point)
			var middle [2]float64
			for _, ci := range want.CI {
				middle[0] += ci[0] / float64(len(want.CI))
				middle[1] += ci[1] / float64(len(want.CI))
			}
			got, ok := TwoLevelBootstrap(a, b, changeOf(ratio), 0.95, 4000, 1)
			if !ok {
				t.Fatal("no interval")
			}
			within(t, "low", got.Low, middle[0], want.Tolerance)
			within(t, "high", got.High, middle[1], want.Tolerance)
			again, _ := TwoLevelBootstrap(a, b, changeOf(ratio), 0.95, 4000, 1)
			if again != got {
				t.Errorf("the same seed gave %v, then %v", got, again)
			}
			fixed := func(values []float64) (out []Replicate) {
				for _, v := range values {
					out = append(out, Fixed(v))
				}
				return out
			}
			got, _ = TwoLevelBootstrap(fixed(want.PerProcessA), fixed(want.PerProcessB), changeOf(ratio), 0.95, 4000, 1)
			within(t, "process level low", got.Low, want.ProcessCI[0], want.Tolerance)
			within(t, "process level high", got.High, want.ProcessCI[1], want.Tolerance)
		})
	}
}

func TestVectorAdjustedP(t *testing.T) {
	var cases []struct{ P, BH, Holm, Bonferroni []float64 }
	readJSON(t, "bh_adjust.json", &cases)
	for i, c := range cases {
		for name, pair := range map[string][2][]float64{
			"bh": {BenjaminiHochberg(c.P), c.BH}, "holm": {Holm(c.P), c.Holm}, "bonferroni": {Bonferroni(c.P), c.Bonferroni},
		} {
			for j := range pair[1] {
				near(t, fmt.Sprintf("case %d %s %d", i, name, j), pair[0][j], pair[1][j])
			}
		}
	}
}

func TestVectorDetectableEffect(t *testing.T) {
	for _, row := range readCSV(t, "mde.csv") {
		design := TwoSample
		if row["design"] == "paired" {
			design = Paired
		}
		got, ok := DetectableEffect(design, int(number(t, row["n"])), number(t, row["alpha"]), number(t, row["power"]))
		if !ok {
			t.Fatal("no effect")
		}
		within(t, row["design"]+" n "+row["n"]+" alpha "+row["alpha"], got, number(t, row["mde_in_sd_units"]), 6e-7*max(1, got))
	}
}

func TestVectorOrderBalance(t *testing.T) {
	for _, row := range readCSV(t, "order_balance.csv") {
		var order []bool
		for _, side := range row["sequence"] {
			order = append(order, side == 'A')
		}
		got, ok := OrderBalance(order)
		if !ok {
			t.Fatal("no balance")
		}
		near(t, "mean slot of A", got.MeanSlotA, number(t, row["mean_slot_A"]))
		near(t, "mean slot of B", got.MeanSlotB, number(t, row["mean_slot_B"]))
		near(t, "drift bias", got.DriftBias(), number(t, row["linear_drift_bias_slots(B-A)"]))
		near(t, "pairs with A first", float64(got.FirstA), number(t, row["A_first_rounds"]))
	}
}

func TestVectorKendall(t *testing.T) {
	var cases []struct {
		Case  string
		Y     []float64
		Tau   float64 `json:"kendall_tau_b"`
		P     float64 `json:"p_two_sided"`
		Exact bool
	}
	readJSON(t, "trend_kendall.json", &cases)
	for _, c := range cases {
		got, ok := KendallTrend(c.Y)
		if !ok || got.Exact != c.Exact {
			t.Errorf("%s: ok %v, exact %v, want exact %v", c.Case, ok, got.Exact, c.Exact)
		}
		near(t, c.Case+" tau", got.Tau, c.Tau)
		near(t, c.Case+" p", got.P, c.P)
	}
}

func TestVectorDisjointByChance(t *testing.T) {
	var cases []struct {
		Cells    int
		N        int     `json:"n_per_arm"`
		Observed int     `json:"disjoint_observed"`
		Expected float64 `json:"disjoint_expected_under_null"`
		P        float64 `json:"p_ge_observed"`
	}
	readJSON(t, "range_disjoint_null.json", &cases)
	for _, c := range cases {
		p, _ := DisjointProbability(c.N, c.N).Float64()
		near(t, "expected", p*float64(c.Cells), c.Expected)
		got := BinomialAtLeast(c.Cells, c.Observed, p)
		within(t, "P(at least observed)", got, c.P, 1e-9*c.P)
	}
}

func TestVectorBackfill(t *testing.T) {
	var cases []struct {
		Value, Interval int64
		Recorded        []int64
	}
	readJSON(t, "coordinated_omission_backfill.json", &cases)
	for _, c := range cases {
		if got := Backfill(c.Value, c.Interval); !slices.Equal(got, c.Recorded) {
			t.Errorf("%d every %d: got %v, want %v", c.Value, c.Interval, got, c.Recorded)
		}
	}
}

func TestExactBootstrapWeightsOfEvenCountsSumToOne(t *testing.T) {
	for n := 1; n <= 12; n++ {
		sum := 0.0
		for _, w := range bootstrapWeights(n) {
			sum += w
		}
		near(t, fmt.Sprintf("sum for n = %d", n), sum, 1)
	}
	// For two values: both the smaller, both the larger, or one of each.
	w := bootstrapWeights(2)
	near(t, "both the smaller", w[[2]int{0, 0}], 0.25)
	near(t, "one of each", w[[2]int{0, 1}], 0.5)
}

func TestSelectorAgreesWithSorting(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	percentiles := []Percentile{Permyriad(0), Permyriad(1), P50, P90, P99, P999, Max}
	selector := NewSelector()
	draw := map[string]func() int64{
		"microseconds":     func() int64 { return 80_000 + random.Int64N(30_000) },
		"few values":       func() int64 { return random.Int64N(3) },
		"short and long":   func() int64 { return exactValues - 50 + random.Int64N(100) },
		"around 2048":      func() int64 { return 2000 + random.Int64N(100) },
		"seconds":          func() int64 { return 2_000_000_000 + random.Int64N(5_000_000_000) },
		"everything":       func() int64 { return random.Int64() >> random.IntN(63) },
		"close to the end": func() int64 { return math.MaxInt64 - random.Int64N(3000) },
		"around 2^54":      func() int64 { return 1<<54 - 5 + random.Int64N(10) },
		"one long bucket":  func() int64 { return 1<<62 + random.Int64N(1<<51) },
		"equal":            func() int64 { return 123456 },
	}
	for name, next := range draw {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 7, 100, 1023, 1024, 1025, 20_000} {
				values := make([]int64, n)
				for i := range values {
					values[i] = next()
				}
				sorted := slices.Sorted(slices.Values(values))
				for _, kept := range []bool{true, false} {
					got := make([]int64, len(percentiles))
					pass := Slice(values)
					if !kept {
						pass = forgetful(selector, values)
					}
					count, err := selector.Percentiles(pass, percentiles, got)
					if err != nil || count != int64(n) {
						t.Fatalf("n %d: count %d, %v", n, count, err)
					}
					for i, p := range percentiles {
						if want := sorted[p.Rank(int64(n))-1]; got[i] != want {
							t.Errorf("n %d kept %v percentile %v: got %d, want %d", n, kept, p, got[i], want)
						}
					}
				}
				low, high := int64(n/3), int64(n/3+n/5+1)
				window, _, err := selector.Between(Slice(values), func(int64) (int64, int64) { return low, high })
				if want := sorted[max(low, 1)-1 : min(high, int64(n))]; err != nil || !slices.Equal(window, want) {
					t.Errorf("n %d: window %d to %d is wrong: %v", n, low, high, err)
				}
			}
		})
	}
}

// forgetful is a pass that makes the selector forget the copy that it kept, so
// that it has to read again.
func forgetful(s *Selector, values []int64) Pass {
	return func(yield func([]int64) error) error {
		for chunk := range slices.Chunk(values, 999) {
			if err := yield(chunk); err != nil {
				return err
			}
		}
		s.kept = false
		return nil
	}
}

func TestSelectorStaysClean(t *testing.T) {
	selector := NewSelector()
	out := make([]int64, 1)
	if _, err := selector.Percentiles(Slice([]int64{5, -1, 7}), []Percentile{P50}, out); err == nil {
		t.Error("a negative sample was taken")
	}
	if n, err := selector.Percentiles(Slice(nil), []Percentile{P50}, out); n != 0 || err != nil {
		t.Errorf("no samples gave %d, %v", n, err)
	}
	calls := 0
	changing := func(yield func([]int64) error) error {
		calls++
		if err := yield(slices.Repeat([]int64{exactValues}, 10*calls)); err != nil {
			return err
		}
		selector.kept = false
		return nil
	}
	if _, err := selector.Percentiles(changing, []Percentile{P50}, out); err == nil {
		t.Error("samples that changed between passes were taken")
	}
	if _, err := selector.Percentiles(Slice([]int64{3, 1, 2}), []Percentile{P50}, out); err != nil || out[0] != 2 {
		t.Errorf("after errors the median of 1, 2, 3 is %d, %v", out[0], err)
	}
}

func TestParsePercentileRefuses(t *testing.T) {
	for _, s := range []string{"", ".", "5.", ".5", "-1", "100.1", "1e1", "1000", "99,9", "NaN", " 50", "0.0000000000000001"} {
		if p, err := ParsePercentile(s); err == nil {
			t.Errorf("%q was taken for %v", s, p)
		}
	}
}

func BenchmarkSelector(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	values := make([]int64, 200_000)
	for i := range values {
		values[i] = int64(math.Exp(11.5 + random.NormFloat64()*0.3))
	}
	percentiles := []Percentile{P50, P90, P99, P999, Max}
	out := make([]int64, len(percentiles))
	selector := NewSelector()
	b.SetBytes(int64(len(values) * 8))
	for b.Loop() {
		if _, err := selector.Percentiles(Slice(values), percentiles, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(values))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvalues/s")
}
