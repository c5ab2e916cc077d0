package gate

import (
	"fmt"
	"math/big"
	"strings"

	"pairbench/analyze/metric"
)

// Rule says on which side of the limit a change may lie.
type Rule string

// The rules as they are written in a threshold.
const (
	AtLeast Rule = ">="
	AtMost  Rule = "<="
	// Within claims equivalence: the change lies between -limit and +limit.
	Within Rule = "within"
)

// Threshold is a limit for the change of one metric, of every suite or of one.
type Threshold struct {
	Suite  string // "" is every suite
	Metric string
	Rule   Rule
	// LimitPct is the limit in percent, exact as written.
	LimitPct *big.Rat
	text     string
}

// String returns the threshold as it was written.
func (t Threshold) String() string { return t.text }

func known() []string {
	var ids []string
	for _, m := range metric.All() {
		ids = append(ids, m.ID)
	}
	return ids
}

// ParseThreshold reads METRIC >= -2%, METRIC <= +5% or METRIC within 3%, with
// SUITE: before it for one suite.
func ParseThreshold(s string) (Threshold, error) {
	fail := func(reason string) (Threshold, error) {
		return Threshold{}, fmt.Errorf("threshold %q: %s; expected [SUITE:] METRIC >= PCT%%, METRIC <= PCT%% or METRIC within PCT%%", s, reason)
	}
	t := Threshold{text: strings.Join(strings.Fields(s), " ")}
	rest := t.text
	if suite, after, ok := strings.Cut(rest, ":"); ok {
		if t.Suite, rest = strings.TrimSpace(suite), after; t.Suite == "" {
			return fail("the suite is empty")
		}
	}
	name, limit := "", ""
	for _, rule := range []Rule{AtLeast, AtMost, " " + Within + " "} {
		if before, after, ok := strings.Cut(rest, string(rule)); ok {
			t.Rule, name, limit = Rule(strings.TrimSpace(string(rule))), strings.TrimSpace(before), strings.TrimSpace(after)
			break
		}
	}
	if t.Rule == "" {
		return fail("no >=, <= or within")
	}
	if _, ok := metric.ByID(name); !ok {
		return fail(fmt.Sprintf("unknown metric %q, known are %s", name, strings.Join(known(), ", ")))
	}
	t.Metric = name
	digits, percent := strings.CutSuffix(limit, "%")
	digits = strings.TrimSpace(digits)
	unsigned := strings.TrimLeft(digits, "+-")
	if !percent || len(digits)-len(unsigned) > 1 || unsigned == "" || len(unsigned) > 20 || strings.Trim(unsigned, "0123456789.") != "" {
		return fail(fmt.Sprintf("the limit %q is no percentage", limit))
	}
	value, ok := new(big.Rat).SetString(digits)
	if !ok {
		return fail(fmt.Sprintf("the limit %q is no percentage", limit))
	}
	if t.Rule == Within && value.Sign() <= 0 {
		return fail("a margin is positive")
	}
	t.LimitPct = value
	return t, nil
}
