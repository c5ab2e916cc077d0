package chart

import (
	"encoding/json"
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func small() *Figure {
	return &Figure{
		Name: "suite_throughput", Kind: Bars, Title: "Suite · Throughput", Description: "Bars are medians.", Legend: [2]string{"回调", "coroutine"}, X: "Connections/outstanding", Y: "Throughput (ops/s)",
		Panels: []Panel{
			{Title: "64 B · Continuous", Groups: []Group{
				{Label: "1/1", Note: "+1.83%", Bars: [2]*Bar{{Median: 100, Min: 80, Max: 120, Tip: "A"}, {Median: 50, Min: 50, Max: 50, Tip: "B"}}},
				{Label: "1/4", Bars: [2]*Bar{{Median: 10, Min: 5, Max: 12, Tip: "A"}, nil}},
			}},
			{Title: "4 KiB", Groups: []Group{{Label: "1/1", Bars: [2]*Bar{{Median: 0.004, Min: 0.001, Max: 0.0041, Tip: "A"}, {Median: 0.004, Min: 0.003, Max: 0.005, Tip: "B"}}}}},
		},
	}
}

// golden compares with a file, or writes it when UPDATE_GOLDEN is set.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestGoldenFigure(t *testing.T) {
	golden(t, "bars.svg", NewPainter().SVG(small()))
	golden(t, "bars.vl.json", VegaLite(small()))
}

func TestNiceTicks(t *testing.T) {
	for _, c := range []struct {
		top  float64
		want []float64
	}{
		{37000, []float64{0, 10000, 20000, 30000, 40000}},
		{1, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{0.0042, []float64{0, 0.001, 0.002, 0.003, 0.004, 0.005}},
		{0, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{math.NaN(), []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{math.Inf(1), []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
	} {
		got := niceTicks(c.top)
		if len(got) != len(c.want) {
			t.Errorf("%v: got %v, want %v", c.top, got, c.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-12*math.Max(1, c.want[i]) {
				t.Errorf("%v: got %v, want %v", c.top, got, c.want)
			}
		}
	}
	for top := 1e-9; top < 1e15; top *= 1.37 {
		ticks := niceTicks(top)
		if ticks[0] != 0 || ticks[len(ticks)-1] < top*(1-1e-9) || len(ticks) < 3 || len(ticks) > 7 {
			t.Errorf("%v: ticks %v", top, ticks)
		}
	}
}

func TestLabel(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 40000: "40,000", 1234567: "1,234,567", 0.25: "0.25", 0.30000000000000004: "0.3", -2.5: "−2.5", 100: "100"} {
		if got := label(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}

var (
	barPath     = regexp.MustCompile(`class="([ab])" d="M([\d.]+) ([\d.]+)V([\d.]+)h([\d.]+)V[\d.]+z"/><path class="w" d="M([\d.]+) ([\d.]+)V([\d.]+)M`)
	zeroBaseRow = regexp.MustCompile(`y="([\d.]+)" text-anchor="end">0</text>`)
)

// What is drawn is what was given: heights are in proportion to medians, and
// whiskers stand in the middle of their bar, from min to max.
func TestBarsAndWhiskersAreToScale(t *testing.T) {
	f := small()
	for pi, p := range f.Panels {
		svg := NewPainter().Panel(f, pi, "x")
		bars := barPath.FindAllStringSubmatch(svg, -1)
		var given []*Bar
		for _, g := range p.Groups {
			for _, b := range g.Bars {
				if b != nil {
					given = append(given, b)
				}
			}
		}
		if len(bars) != len(given) || !zeroBaseRow.MatchString(svg) {
			t.Fatalf("panel %d: %d bars drawn of %d, axis from zero: %v", pi, len(bars), len(given), zeroBaseRow.MatchString(svg))
		}
		scale := 0.0
		for i, m := range bars {
			v := make([]float64, len(m))
			for k := 2; k < len(m); k++ {
				v[k], _ = strconv.ParseFloat(m[k], 64)
			}
			x, zero, top, width, centre, low, high := v[2], v[3], v[4], v[5], v[6], v[7], v[8]
			if math.Abs(centre-(x+width/2)) > 0.11 {
				t.Errorf("panel %d bar %d: whisker at %v, bar from %v to %v", pi, i, centre, x, x+width)
			}
			if scale == 0 {
				scale = (zero - top) / given[i].Median
			}
			for _, at := range [][2]float64{{top, given[i].Median}, {low, given[i].Min}, {high, given[i].Max}} {
				if math.Abs((zero-at[0])-at[1]*scale) > 0.3 {
					t.Errorf("panel %d bar %d: %v is drawn %v high at %v a unit", pi, i, at[1], zero-at[0], scale)
				}
			}
		}
	}
}

func TestEveryKindIsWellFormedWhateverTheNumbers(t *testing.T) {
	odd := []float64{0, 1, -1, 1e-300, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), 5}
	for _, kind := range []Kind{Bars, Lines, Dots, Trend} {
		for _, a := range odd {
			for _, b := range odd {
				f := &Figure{Name: "n", Kind: kind, Title: "<&\"'\x00\x1b\xff", Panels: []Panel{
					{Title: "t", Groups: []Group{{Label: "l", Bars: [2]*Bar{{a, b, a, "]]>"}, nil}}}, Curves: []Curve{{X: []float64{a, b}, Y: []float64{b, a}}, {Side: 1}}}, {},
				}}
				p := NewPainter()
				if !json.Valid(VegaLite(f)) {
					t.Fatalf("kind %d of %v and %v is not JSON", kind, a, b)
				}
				for _, svg := range []string{string(p.SVG(f)), string(p.PlainSVG(f)), p.Panel(f, 0, "i"), p.Panel(f, 1, "i")} {
					d := xml.NewDecoder(strings.NewReader(svg))
					for {
						if _, err := d.Token(); err != nil {
							if err.Error() != "EOF" {
								t.Fatalf("kind %d of %v and %v: %v in %s", kind, a, b, err, svg)
							}
							break
						}
					}
					if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
						t.Fatalf("kind %d of %v and %v draws at no place", kind, a, b)
					}
				}
			}
		}
	}
}

func TestVegaLiteIsJSONWithItsData(t *testing.T) {
	f := small()
	var spec struct {
		Data struct{ Values []map[string]any }
	}
	if err := json.Unmarshal(VegaLite(f), &spec); err != nil {
		t.Fatal(err)
	}
	if len(spec.Data.Values) != 5 || spec.Data.Values[0]["median"] != 100.0 || spec.Data.Values[0]["arm"] != "回调" {
		t.Errorf("the data are %v", spec.Data.Values)
	}
	for _, f := range []*Figure{{Kind: Bars}, {Kind: Lines}, {Kind: Dots}, {Kind: Trend}} {
		if !json.Valid(VegaLite(f)) {
			t.Errorf("kind %d without panels is not JSON", f.Kind)
		}
	}
}

// However long a logarithmic axis is, its ticks reach over all of it: no decade
// is without one.
func TestLogTicksReachOverTheWholeAxis(t *testing.T) {
	for low := 0.011; low < 1; low *= 1.3 {
		for span := 12.0; span < 1e5; span *= 1.17 {
			high := low * span
			ticks := logTicks(low, high)
			if len(ticks) < 3 || len(ticks) > 8 {
				t.Errorf("%g to %g has %d ticks: %v", low, high, len(ticks), ticks)
				continue
			}
			if ticks[0] > low*10 || ticks[len(ticks)-1] < high/10 {
				t.Errorf("%g to %g has ticks from %g to %g", low, high, ticks[0], ticks[len(ticks)-1])
			}
		}
	}
}
