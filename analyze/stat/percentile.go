package stat

import (
	"fmt"
	"math/bits"
	"strings"
)

// Percentile is an exact decimal fraction p between 0 and 1. The zero value is
// the 0th percentile, the smallest sample.
type Percentile struct {
	num, den uint64 // den is a power of ten; 0 stands for 1
}

// The percentiles that metrics are made of.
var (
	P50  = Permyriad(5000)
	P90  = Permyriad(9000)
	P99  = Permyriad(9900)
	P999 = Permyriad(9990)
	Max  = Permyriad(10000)
)

// Permyriad returns the percentile of n hundredths of a percent; n is between
// 0 and 10000.
func Permyriad(n int) Percentile {
	if n < 0 || n > 10000 {
		panic(fmt.Sprintf("stat: permyriad %d is outside 0 to 10000", n))
	}
	return Percentile{uint64(n), 10000}
}

// ParsePercentile reads a percentile in percent, as people write it: 50, 99.9.
// It takes at most 15 digits after the point, and no sign or exponent.
func ParsePercentile(s string) (Percentile, error) {
	whole, frac, point := strings.Cut(s, ".")
	digits := whole + frac
	if whole == "" || (point && frac == "") || len(whole) > 3 || len(frac) > 15 || strings.Trim(digits, "0123456789") != "" {
		return Percentile{}, fmt.Errorf("parse percentile %q: expected a decimal from 0 to 100", s)
	}
	p := Percentile{0, 100}
	for _, d := range digits {
		p.num = p.num*10 + uint64(d-'0')
	}
	for range frac {
		p.den *= 10
	}
	if p.num > p.den {
		return Percentile{}, fmt.Errorf("parse percentile %q: expected a decimal from 0 to 100", s)
	}
	return p, nil
}

// Rank returns the nearest rank k = max(1, ceil(p*n)) among n samples, from 1
// to n, without ever leaving integers. It panics when n is not positive.
func (p Percentile) Rank(n int64) int64 {
	if n <= 0 {
		panic(fmt.Sprintf("stat: the rank among %d samples is not defined", n))
	}
	if p.num == 0 {
		return 1
	}
	hi, lo := bits.Mul64(p.num, uint64(n))
	lo, carry := bits.Add64(lo, p.den-1, 0)
	k, _ := bits.Div64(hi+carry, lo, p.den)
	return int64(k)
}

// Above returns how many of n samples rank above the percentile: the samples
// that its value rests on from above.
func (p Percentile) Above(n int64) int64 { return n - p.Rank(n) }
