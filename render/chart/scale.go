package chart

import (
	"math"
	"strconv"
	"strings"
)

// niceTicks returns ascending ticks from zero whose last one is at least top:
// four to six steps of 1, 2, 2.5 or 5 times a power of ten. A top that is not
// positive and finite gives the ticks of 1.
func niceTicks(top float64) []float64 {
	if !(top > 0) || math.IsInf(top, 0) {
		top = 1
	}
	power := math.Pow(10, math.Floor(math.Log10(top/4)))
	step := power
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		step = m * power
		if top <= 5*step*(1+1e-9) {
			break
		}
	}
	return steps(0, step, top)
}

// steps returns multiples of step from low up to the first that reaches top.
func steps(low, step, top float64) []float64 {
	first := math.Floor(low/step + 1e-9)
	var ticks []float64
	for i := first; len(ticks) < 50; i++ {
		if len(ticks) > 0 && i*step == ticks[len(ticks)-1] {
			break // the step is lost in the size of the number
		}
		ticks = append(ticks, i*step)
		if i*step >= top-step*1e-9 {
			break
		}
	}
	return ticks
}

// aroundTicks returns ticks that enclose low and high, for values that have no
// meaningful zero.
func aroundTicks(low, high float64) []float64 {
	span := high - low
	if !(span > math.Abs(high)*1e-9) || math.IsInf(span, 0) {
		span = math.Max(math.Abs(high)*0.1, 1)
		low, high = low-span/2, high+span/2
	}
	t := niceTicks(span)
	return steps(low, t[1]-t[0], high)
}

// logTicks returns the labelled ticks within low and high, which are positive:
// 1, 2 and 5 times powers of ten, fewer on a long axis, and even steps on one so
// short that only a few of them would lie on it.
func logTicks(low, high float64) []float64 {
	multiples := [][]float64{{1, 2, 5}}
	if math.Log10(high/low) > 2.2 {
		multiples = [][]float64{{1}, {1, 2, 5}}
	}
	var ticks []float64
	for _, multiples := range multiples {
		ticks = nil
		for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
			for _, m := range multiples {
				if v := m * math.Pow(10, e); v >= low*(1-1e-9) && v <= high*(1+1e-9) {
					ticks = append(ticks, v)
				}
			}
		}
		if len(ticks) >= 3 {
			return ticks
		}
	}
	even := niceTicks(high - low)
	ticks = nil
	for _, v := range steps(low, even[1]-even[0], high) {
		if v >= low && v <= high {
			ticks = append(ticks, v)
		}
	}
	return ticks
}

// label writes a tick: at most six significant digits, thousands grouped.
func label(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if short := strconv.FormatFloat(v, 'g', 6, 64); !strings.ContainsRune(short, 'e') {
		text = short
	}
	whole, fraction, hasPoint := strings.Cut(text, ".")
	negative := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	var b strings.Builder
	if negative {
		b.WriteString("−")
	}
	for i := 0; i < len(whole); i++ {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	if hasPoint {
		b.WriteByte('.')
		b.WriteString(fraction)
	}
	return b.String()
}

// coord writes a coordinate to a tenth of a unit, the shortest way.
func coord(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	text := strconv.FormatFloat(v, 'f', 1, 64)
	text = strings.TrimSuffix(text, ".0")
	if text == "-0" {
		return "0"
	}
	return text
}
