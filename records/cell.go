package records

import (
	"fmt"
	"strconv"
)

// FactorKind is the storage type of a factor: one typed column per factor.
type FactorKind string

// The kinds a factor can have, after the YAML scalars they come from.
const (
	FactorInt    FactorKind = "int"
	FactorFloat  FactorKind = "float"
	FactorBool   FactorKind = "bool"
	FactorString FactorKind = "string"
)

// FactorValue is one value of a factor. The zero value is the integer 0.
type FactorValue struct {
	Kind  FactorKind
	Int   int64
	Float float64
	Bool  bool
	Str   string
}

// IntFactor returns v as an integer factor.
func IntFactor(v int64) FactorValue { return FactorValue{Kind: FactorInt, Int: v} }

// FloatFactor returns v, which must be finite, as a decimal factor.
func FloatFactor(v float64) FactorValue { return FactorValue{Kind: FactorFloat, Float: v} }

// BoolFactor returns v as a truth value.
func BoolFactor(v bool) FactorValue { return FactorValue{Kind: FactorBool, Bool: v} }

// StringFactor returns v, which may be any UTF-8 text, as a word.
func StringFactor(v string) FactorValue { return FactorValue{Kind: FactorString, Str: v} }

// String returns the value as a plan would write it: 64, 0.5, true, continuous.
func (v FactorValue) String() string {
	switch v.Kind {
	case FactorFloat:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case FactorBool:
		return strconv.FormatBool(v.Bool)
	case FactorString:
		return v.Str
	default:
		return strconv.FormatInt(v.Int, 10)
	}
}

// As returns the value in another kind when that loses nothing: any value from
// its text, as the plan writes it. The empty kind changes nothing.
func (v FactorValue) As(kind FactorKind) (FactorValue, error) {
	if kind == "" || kind == v.Kind {
		return v, nil
	}
	text := v.String()
	out := FactorValue{Kind: kind}
	var err error
	switch kind {
	case FactorInt:
		out.Int, err = strconv.ParseInt(text, 10, 64)
	case FactorFloat:
		out.Float, err = strconv.ParseFloat(text, 64)
	case FactorBool:
		out.Bool, err = strconv.ParseBool(text)
	default:
		out.Kind, out.Str = FactorString, text
	}
	if err != nil {
		return FactorValue{}, fmt.Errorf("value %q is no %s", text, kind)
	}
	return out, nil
}

// Factor is a named property with the value that a cell gives it.
type Factor struct {
	Name  string
	Value FactorValue
}

// Cell is one combination of factor values in a suite: a row of
// data/cells.parquet, where each factor is the typed column f_<name>.
type Cell struct {
	CellID string
	Suite  string
	// Factors stand in the order of the plan; a name appears once. Cells of
	// different suites may have different factors: the others are absent.
	Factors []Factor
	// PlannedOperations and PlannedWarmupOperations are absent where the plan
	// measures for a duration; the durations are then present instead.
	PlannedOperations       *int64
	PlannedWarmupOperations *int64
	PlannedDurationNs       *int64
	PlannedWarmupDurationNs *int64
	// OperationsPerSample is 1, or the number of commands in a pipelined batch.
	OperationsPerSample int64
}

// Factor returns the value of the named factor and whether the cell has it.
func (c Cell) Factor(name string) (FactorValue, bool) {
	for _, f := range c.Factors {
		if f.Name == name {
			return f.Value, true
		}
	}
	return FactorValue{}, false
}
