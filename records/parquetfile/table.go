package parquetfile

import (
	"fmt"
	"math"
)

// ColumnKind is the type of a column of a Table.
type ColumnKind string

// The kinds, each with the slice of Column that holds its values.
const (
	Int64Column   ColumnKind = "int64"   // Ints
	Float64Column ColumnKind = "float64" // Floats
	BoolColumn    ColumnKind = "bool"    // Bools
	StringColumn  ColumnKind = "string"  // Strings
)

// Column is one column of a Table. Only the slice of its kind is used.
type Column struct {
	Name string
	// Unit is ns, bytes, 1/s, percent and the like; empty for a pure name or
	// number. It is stored with the column.
	Unit    string
	Kind    ColumnKind
	Ints    []int64
	Floats  []float64
	Bools   []bool
	Strings []string
	// Valid says which values are present; nil means that all are and that the
	// column cannot be null. An absent value still has its place in the slice.
	Valid []bool
}

// Len returns the number of values, absent ones counted.
func (c Column) Len() int {
	switch c.Kind {
	case Int64Column:
		return len(c.Ints)
	case Float64Column:
		return len(c.Floats)
	case BoolColumn:
		return len(c.Bools)
	default:
		return len(c.Strings)
	}
}

// Present reports whether value i is there.
func (c Column) Present(i int) bool { return c.Valid == nil || c.Valid[i] }

// Table is a table whose columns are known only at run time, such as those of
// a plan's factors. All columns have the same length.
type Table struct {
	Columns []Column
	// Metadata is written as the file's key-value metadata.
	Metadata map[string]string
}

// Rows returns the number of rows.
func (t Table) Rows() int {
	if len(t.Columns) == 0 {
		return 0
	}
	return t.Columns[0].Len()
}

// Column returns the named column.
func (t Table) Column(name string) (Column, bool) {
	for _, c := range t.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return Column{}, false
}

func (t Table) check() error {
	if len(t.Columns) == 0 {
		return fmt.Errorf("no columns")
	}
	names := make(map[string]struct{}, len(t.Columns))
	for _, c := range t.Columns {
		if _, twice := names[c.Name]; twice || c.Name == "" {
			return fmt.Errorf("column %q is empty or stands twice", c.Name)
		}
		names[c.Name] = struct{}{}
		switch c.Kind {
		case Int64Column, Float64Column, BoolColumn, StringColumn:
		default:
			return fmt.Errorf("column %s has kind %q", c.Name, c.Kind)
		}
		if c.Len() != t.Rows() || c.Valid != nil && len(c.Valid) != c.Len() {
			return fmt.Errorf("column %s has %d values and %d validities, the table %d rows", c.Name, c.Len(), len(c.Valid), t.Rows())
		}
		for i, v := range c.Floats {
			if c.Kind == Float64Column && c.Present(i) && (math.IsNaN(v) || math.IsInf(v, 0)) {
				return fmt.Errorf("column %s row %d is %v: absent is not a number, and a number is finite", c.Name, i, v)
			}
		}
	}
	return nil
}
