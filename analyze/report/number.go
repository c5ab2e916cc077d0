package report

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// Number is an exact rational in base units (operations per second, percent,
// nanoseconds, bytes). The zero value is not a number: use NewNumber or
// NumberFromInt. In JSON it is {"exact":"n/d","value":float}, where value is
// the nearest float64 for readers that want one and exact is what counts.
type Number struct{ rat *big.Rat }

// NewNumber takes ownership of r, which must not be changed afterwards.
func NewNumber(r *big.Rat) Number { return Number{rat: r} }

// NumberFromInt returns v as a Number.
func NumberFromInt(v int64) Number { return Number{rat: new(big.Rat).SetInt64(v)} }

// Rat returns the exact value; the caller must not change it. It is nil for
// the zero Number.
func (n Number) Rat() *big.Rat { return n.rat }

// Float returns the nearest float64. It is 0 for the zero Number.
func (n Number) Float() float64 {
	if n.rat == nil {
		return 0
	}
	f, _ := n.rat.Float64()
	return f
}

// Sign returns -1, 0 or +1 of the exact value.
func (n Number) Sign() int {
	if n.rat == nil {
		return 0
	}
	return n.rat.Sign()
}

type numberJSON struct {
	Exact string  `json:"exact"`
	Value float64 `json:"value"`
}

// MarshalJSON fails for the zero Number: absent numbers are nil pointers.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.rat == nil {
		return nil, fmt.Errorf("marshal number: no value was set")
	}
	return json.Marshal(numberJSON{Exact: n.rat.RatString(), Value: n.Float()})
}

// maxExactLen bounds what UnmarshalJSON hands to big.Rat, so that a hostile
// exponent cannot exhaust memory.
const maxExactLen = 4096

// UnmarshalJSON accepts a decimal integer or a fraction of two in exact, and
// ignores value.
func (n *Number) UnmarshalJSON(data []byte) error {
	var j numberJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if len(j.Exact) == 0 || len(j.Exact) > maxExactLen || strings.Trim(j.Exact, "-0123456789/") != "" {
		return fmt.Errorf("number %.40q: expected an integer or a fraction of integers", j.Exact)
	}
	r, ok := new(big.Rat).SetString(j.Exact)
	if !ok {
		return fmt.Errorf("number %.40q: expected an integer or a fraction of integers", j.Exact)
	}
	n.rat = r
	return nil
}
