package tool

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"pairbench/collect/importer/result"
)

// maxDigits and maxExponent bound the decimals that are read, far beyond what a
// measurement has, so that a hostile one costs nothing.
const (
	maxDigits   = 400
	maxExponent = 400
)

// decimal reads a decimal number exactly: 0.25, 1.5e-07. It never goes through
// a binary fraction. The second result says what is wrong.
func decimal(text string) (*big.Rat, string) {
	bad := fmt.Sprintf("found %s, expected a number", result.Quote(text))
	mantissa, exponent := text, ""
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		mantissa, exponent = text[:at], text[at+1:]
		digits := strings.TrimLeft(exponent, "+-0")
		if strings.Trim(digits, "0123456789") != "" || strings.Trim(exponent, "+-") == "" {
			return nil, bad
		}
		if len(digits) > 3 || len(digits) == 3 && digits > fmt.Sprint(maxExponent) {
			return nil, fmt.Sprintf("found %s, expected an exponent of at most %d", result.Quote(text), maxExponent)
		}
	}
	if len(mantissa) > maxDigits || strings.Trim(strings.TrimLeft(mantissa, "+-"), "0123456789.") != "" {
		return nil, bad
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, bad
	}
	return r, ""
}

// rounded returns the nearest integer, half away from zero. Below zero and
// beyond 63 bits nothing was measured.
func rounded(r *big.Rat) (int64, string) {
	if r.Sign() < 0 {
		return 0, "found a number below zero, expected 0 or more"
	}
	twice := new(big.Int).Lsh(r.Num(), 1)
	twice.Add(twice, r.Denom())
	n := twice.Quo(twice, new(big.Int).Lsh(r.Denom(), 1))
	if !n.IsInt64() {
		return 0, "found a number of more than 63 bits, expected less"
	}
	return n.Int64(), ""
}

// unitNs are the units of time that tools write, in nanoseconds.
var unitNs = map[string]int64{
	"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9,
}

// times multiplies exactly.
func times(r *big.Rat, factor int64) *big.Rat {
	return new(big.Rat).Mul(r, new(big.Rat).SetInt64(factor))
}

// toUnits reads a decimal in units of so many base units, as a whole number of
// base units.
func toUnits(text string, baseUnits int64) (int64, string) {
	r, problem := decimal(text)
	if problem != "" {
		return 0, problem
	}
	n, problem := rounded(times(r, baseUnits))
	if problem != "" {
		return 0, fmt.Sprintf("%s: %s", result.Quote(text), problem)
	}
	return n, ""
}

// count reads a whole number.
func count(text string) (int64, string) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return n, "" // most numbers by far
	}
	r, problem := decimal(text)
	if problem != "" {
		return 0, problem
	}
	if !r.IsInt() {
		return 0, fmt.Sprintf("found %s, expected a whole number", result.Quote(text))
	}
	n, problem := rounded(r)
	if problem != "" {
		return 0, fmt.Sprintf("%s: %s", result.Quote(text), problem)
	}
	return n, ""
}
