package tool

import (
	"strings"
	"testing"
)

func TestDecimalsBecomeIntegersExactly(t *testing.T) {
	for _, c := range []struct {
		text    string
		unit    int64
		want    int64
		problem string
	}{
		{"0", 1e9, 0, ""},
		{"0.1", 1e9, 100_000_000, ""},
		{"1.4065312541333697e-06", 1e9, 1407, ""},
		{"8.6626817000251332e+02", 1e3, 866_268, ""},
		{"0.5", 1, 1, ""},
		{"1.5", 1, 2, ""},
		{"2.5", 1, 3, ""},
		{"0.49999999999999999999999", 1, 0, ""},
		{"9223372036854775807", 1, 1<<63 - 1, ""},
		{"9223372036854775807.4", 1, 1<<63 - 1, ""},
		{"9223372036854775807.5", 1, 0, "more than 63 bits"},
		{"9223372036854775808", 1, 0, "more than 63 bits"},
		{"1e-400", 1, 0, ""},
		{"1e400", 1, 0, "more than 63 bits"},
		{"1e401", 1, 0, "exponent of at most 400"},
		{"1e-401", 1, 0, "exponent of at most 400"},
		{"1e0000000000003", 1, 1000, ""},
		{"1e99999999999999999999", 1, 0, "exponent of at most 400"},
		{"-0.1", 1, 0, "below zero"},
		{"-0", 1, 0, ""},
		{"", 1, 0, "expected a number"},
		{".", 1, 0, "expected a number"},
		{"1.2.3", 1, 0, "expected a number"},
		{"1e", 1, 0, "expected a number"},
		{"e5", 1, 0, "expected a number"},
		{"0x10", 1, 0, "expected a number"},
		{"1_000", 1, 0, "expected a number"},
		{"1/3", 1, 0, "expected a number"},
		{"1p5", 1, 0, "expected a number"},
		{"nan", 1, 0, "expected a number"},
		{"Inf", 1, 0, "expected a number"},
		{"1,5", 1, 0, "expected a number"},
		{strings.Repeat("1", 401), 1, 0, "expected a number"},
	} {
		got, problem := toUnits(c.text, c.unit)
		if got != c.want || (problem == "") != (c.problem == "") || !strings.Contains(problem, c.problem) {
			t.Errorf("%.40q times %d is %d (%s), want %d (%s)", c.text, c.unit, got, problem, c.want, c.problem)
		}
	}
}
