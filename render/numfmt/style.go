package numfmt

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Profile is the name of a set of styles. An unknown profile writes as
// Database does.
type Profile string

// The profiles.
const (
	Database Profile = "database"
	Native   Profile = "native"
	Release  Profile = "release"
)

// Unit is the unit in which a style shows a value; i18n has the words.
type Unit string

// The units that are shown.
const (
	UnitOps        Unit = "ops/s"
	UnitRoundTrips Unit = "round_trips/s"
	UnitThousands  Unit = "k/s"
	UnitPercent    Unit = "%"
	UnitMs         Unit = "ms"
	UnitUs         Unit = "us"
	UnitMiB        Unit = "MiB"
	UnitNone       Unit = ""
)

// Minus is the sign of a negative number outside the native profile.
const Minus = "−"

// RangeDash joins the two ends of a range in a cell.
const RangeDash = "–"

// Arrow joins two arms in one cell.
const Arrow = " → "

type sign int

const (
	signNegative sign = iota // a minus for negatives only
	signAlways               // a plus for all others
	signASCII                // a hyphen for negatives only
)

// Style writes the numbers of one metric. The zero value writes integers.
type Style struct {
	// Unit is what Format's result is counted in; the text itself carries no
	// unit, except the percent sign of a change.
	Unit Unit
	// Ranges says whether a cell shows the range beside the median.
	Ranges bool

	divisor  int64 // base units in one shown unit; 0 is 1
	decimals int
	trim     bool
	group    bool
	sign     sign
	suffix   string
}

const mebi = 1 << 20

// Metric returns the style of a metric: id and unit are report.Metric's, in
// base units (per_sec, pct, ns, bytes).
func (p Profile) Metric(id, unit string) Style {
	s := Style{Ranges: true}
	switch p {
	case Native:
		s.decimals, s.trim, s.group, s.sign = 2, true, true, signASCII
		switch unit {
		case "per_sec":
			s.Unit = UnitRoundTrips
		case "pct":
			s.Unit = UnitPercent
		case "ns":
			s.Unit, s.divisor = UnitUs, 1e3
		case "bytes":
			s.Unit, s.divisor = UnitMiB, mebi
		}
	case Release:
		s.decimals = 2
		switch unit {
		case "per_sec":
			s.Unit, s.divisor = UnitThousands, 1e3
		case "pct":
			s.Unit, s.Ranges = UnitPercent, id != "cpu"
		case "ns":
			s.Unit, s.divisor = UnitUs, 1e3
		case "bytes":
			s.Unit, s.divisor = UnitMiB, mebi
		}
	default:
		s.decimals = 3
		switch unit {
		case "per_sec":
			s.Unit, s.decimals, s.group = UnitOps, 1, true
		case "pct":
			s.Unit, s.decimals = UnitPercent, 2
		case "ns":
			s.Unit, s.divisor = UnitMs, 1e6
		case "bytes":
			s.Unit, s.divisor = UnitMiB, mebi
		}
	}
	return s
}

// Change returns the style of changes in percent. The sign is that of the
// unrounded value, so −0.00% and +0.00% both exist.
func (p Profile) Change() Style {
	if p == Native {
		return Style{Unit: UnitPercent, decimals: 2, trim: true, sign: signASCII, suffix: "%"}
	}
	return Style{Unit: UnitPercent, decimals: 2, sign: signAlways, suffix: "%"}
}

// Seconds returns the style of measured intervals given in ns: three decimals
// of a second.
func Seconds() Style { return Style{decimals: 3, divisor: 1e9} }

// Decimals returns a style without a scale: d decimals, trimmed, grouped.
func Decimals(d int) Style { return Style{decimals: d, trim: true, group: true} }

// Format writes r, which is in base units and not nil.
func (s Style) Format(r *big.Rat) string {
	abs := new(big.Rat).Abs(r)
	if s.divisor > 1 {
		abs.Quo(abs, new(big.Rat).SetInt64(s.divisor))
	}
	digits := abs.FloatString(s.decimals) // rounds half away from zero
	whole, fraction, _ := strings.Cut(digits, ".")
	if s.trim {
		fraction = strings.TrimRight(fraction, "0")
	}
	var b strings.Builder
	b.Grow(len(digits) + len(whole)/3 + 4)
	switch {
	case r.Sign() < 0 && s.sign == signASCII:
		b.WriteByte('-')
	case r.Sign() < 0:
		b.WriteString(Minus)
	case s.sign == signAlways:
		b.WriteByte('+')
	}
	if s.group {
		writeGrouped(&b, whole)
	} else {
		b.WriteString(whole)
	}
	if fraction != "" {
		b.WriteByte('.')
		b.WriteString(fraction)
	}
	b.WriteString(s.suffix)
	return b.String()
}

func writeGrouped(b *strings.Builder, digits string) {
	for i := 0; i < len(digits); i++ {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(digits[i])
	}
}

// FormatInt is Format for a value in base units that is an integer.
func (s Style) FormatInt(v int64) string { return s.Format(new(big.Rat).SetInt64(v)) }

// Cell writes `median [min–max]`, or the median alone in a style without
// ranges.
func (s Style) Cell(median, min, max *big.Rat) string {
	if !s.Ranges {
		return s.Format(median)
	}
	return s.Format(median) + " [" + s.Format(min) + RangeDash + s.Format(max) + "]"
}

var errNotANumber = errors.New("expected digits with an optional sign, thousands separators and decimals")

// Parse reads what Format wrote and returns the value in base units. It accepts
// the sign, grouping and suffix of any style, so that a reader need not know
// which profile wrote a table.
func (s Style) Parse(text string) (*big.Rat, error) {
	fail := func() (*big.Rat, error) { return nil, fmt.Errorf("parse number %.40q: %w", text, errNotANumber) }
	digits := strings.TrimSuffix(text, "%")
	negative := false
	for _, prefix := range []string{"+", "-", Minus} {
		if rest, ok := strings.CutPrefix(digits, prefix); ok {
			digits, negative = rest, prefix != "+"
			break
		}
	}
	whole, fraction, hasPoint := strings.Cut(digits, ".")
	if strings.Contains(whole, ",") {
		for i, group := range strings.Split(whole, ",") {
			if len(group) != 3 && (i > 0 || len(group) == 0 || len(group) > 3) {
				return fail()
			}
		}
		whole = strings.ReplaceAll(whole, ",", "")
	}
	if whole == "" || (hasPoint && fraction == "") || strings.Trim(whole+fraction, "0123456789") != "" {
		return fail()
	}
	plain := whole
	if hasPoint {
		plain += "." + fraction
	}
	r, ok := new(big.Rat).SetString(plain)
	if !ok {
		return fail()
	}
	if s.divisor > 1 {
		r.Mul(r, new(big.Rat).SetInt64(s.divisor))
	}
	if negative {
		r.Neg(r)
	}
	return r, nil
}

// ParseCell reads what Cell wrote. In a style without ranges min and max are
// nil.
func (s Style) ParseCell(text string) (median, min, max *big.Rat, err error) {
	head, tail, ranged := strings.Cut(text, " [")
	if median, err = s.Parse(head); err != nil || !ranged {
		return median, nil, nil, err
	}
	inside, closed := strings.CutSuffix(tail, "]")
	low, high, dashed := strings.Cut(inside, RangeDash)
	if !closed || !dashed {
		return nil, nil, nil, fmt.Errorf("parse cell %.80q: expected median [min%smax]", text, RangeDash)
	}
	if min, err = s.Parse(low); err != nil {
		return nil, nil, nil, err
	}
	if max, err = s.Parse(high); err != nil {
		return nil, nil, nil, err
	}
	return median, min, max, nil
}

// Value returns r in the unit that Format shows, for positions in a chart.
func (s Style) Value(r *big.Rat) float64 {
	f, _ := r.Float64()
	if s.divisor > 1 {
		f /= float64(s.divisor)
	}
	return f
}
