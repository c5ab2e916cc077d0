package main

import (
	"math/big"
	"strings"
	"testing"

	"pairbench/analyze/gate"
	"pairbench/analyze/report"
)

// A change that a verdict quotes has the digits of the report: rounded half away
// from zero from the exact value, with the sign of the unrounded one.
func TestGateWritesChangesAsTheReportDoes(t *testing.T) {
	for _, c := range []struct {
		change *big.Rat
		want   string
	}{
		{big.NewRat(-1365, 1000), "change -1.37%"},
		{big.NewRat(2675, 1000), "change +2.68%"},
		{big.NewRat(-1, 1000), "change -0.00%"},
		{big.NewRat(0, 1), "change +0.00%"},
	} {
		n := report.NewNumber(c.change)
		if got := evidence(gate.Check{ChangePct: &n}); !strings.HasPrefix(got, c.want) {
			t.Errorf("%v is written %q, expected %q", c.change, got, c.want)
		}
	}
}
