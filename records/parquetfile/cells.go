package parquetfile

import (
	"fmt"
	"io"
	"strings"

	"pairbench/records"
)

// factorPrefix starts the name of every factor's column.
const factorPrefix = "f_"

// WriteCells writes data/cells.parquet: one row a cell, one typed column a
// factor, in the order in which the factors first appear. A factor that has
// values of several kinds becomes a column of strings.
func WriteCells(dst io.Writer, cells []records.Cell) error {
	t, err := cellsTable(cells)
	if err != nil {
		return fmt.Errorf("write cells: %w", err)
	}
	return WriteTable(dst, t)
}

func cellsTable(cells []records.Cell) (Table, error) {
	var factors []*factorColumn
	byName := make(map[string]*factorColumn)
	for _, cell := range cells {
		for _, f := range cell.Factors {
			c, ok := byName[f.Name]
			if !ok {
				c = &factorColumn{name: f.Name, kind: f.Value.Kind}
				byName[f.Name] = c
				factors = append(factors, c)
			}
			if c.kind != f.Value.Kind {
				c.kind = records.FactorString
			}
		}
	}
	id := Column{Name: "cell_id", Kind: StringColumn}
	suite := Column{Name: "suite", Kind: StringColumn}
	amounts := []*Column{
		optionalInts("planned_operations", ""), optionalInts("planned_warmup_operations", ""),
		optionalInts("planned_duration_ns", "ns"), optionalInts("planned_warmup_duration_ns", "ns"),
	}
	perSample := Column{Name: "operations_per_sample", Kind: Int64Column}
	for _, cell := range cells {
		id.Strings = append(id.Strings, cell.CellID)
		suite.Strings = append(suite.Strings, cell.Suite)
		for i, v := range []*int64{
			cell.PlannedOperations, cell.PlannedWarmupOperations,
			cell.PlannedDurationNs, cell.PlannedWarmupDurationNs,
		} {
			amounts[i].appendOptional(v)
		}
		perSample.Ints = append(perSample.Ints, cell.OperationsPerSample)
		for _, f := range factors {
			value, ok := cell.Factor(f.name)
			f.append(value, ok)
		}
	}
	t := Table{Columns: []Column{id, suite}}
	for _, f := range factors {
		c, err := f.column()
		if err != nil {
			return Table{}, err
		}
		t.Columns = append(t.Columns, c)
	}
	for _, a := range amounts {
		t.Columns = append(t.Columns, *a)
	}
	t.Columns = append(t.Columns, perSample)
	return t, nil
}

type factorColumn struct {
	name   string
	kind   records.FactorKind
	values Column
}

func (f *factorColumn) append(value records.FactorValue, present bool) {
	c := &f.values
	c.Valid = append(c.Valid, present)
	switch f.kind {
	case records.FactorInt:
		c.Ints = append(c.Ints, value.Int)
	case records.FactorFloat:
		c.Floats = append(c.Floats, value.Float)
	case records.FactorBool:
		c.Bools = append(c.Bools, value.Bool)
	default:
		text := ""
		if present {
			text = value.String()
		}
		c.Strings = append(c.Strings, text)
	}
}

func (f *factorColumn) column() (Column, error) {
	c := f.values
	c.Name = factorPrefix + f.name
	switch f.kind {
	case records.FactorInt:
		c.Kind = Int64Column
	case records.FactorFloat:
		c.Kind = Float64Column
	case records.FactorBool:
		c.Kind = BoolColumn
	case records.FactorString:
		c.Kind = StringColumn
	default:
		return Column{}, fmt.Errorf("factor %s has kind %q", f.name, f.kind)
	}
	return c, nil
}

func optionalInts(name, unit string) *Column {
	return &Column{Name: name, Unit: unit, Kind: Int64Column, Valid: []bool{}}
}

func (c *Column) appendOptional(v *int64) {
	c.Valid = append(c.Valid, v != nil)
	if v == nil {
		c.Ints = append(c.Ints, 0)
		return
	}
	c.Ints = append(c.Ints, *v)
}

// ReadCells reads data/cells.parquet. A factor has the kind of its column.
func ReadCells(src io.ReaderAt, size int64) ([]records.Cell, error) {
	t, err := ReadTable(src, size)
	if err != nil {
		return nil, fmt.Errorf("read cells: %w", err)
	}
	cells, err := cellsOf(t)
	if err != nil {
		return nil, fmt.Errorf("read cells: %w", err)
	}
	return cells, nil
}

func cellsOf(t Table) ([]records.Cell, error) {
	for name, kind := range map[string]ColumnKind{
		"cell_id": StringColumn, "suite": StringColumn, "operations_per_sample": Int64Column,
	} {
		if c, ok := t.Column(name); !ok || c.Kind != kind || c.Valid != nil {
			return nil, damaged("column %s is missing, nullable or not %s", name, kind)
		}
	}
	cells := make([]records.Cell, t.Rows())
	for _, c := range t.Columns {
		for i := range cells {
			if err := setCell(&cells[i], c, i); err != nil {
				return nil, err
			}
		}
	}
	return cells, nil
}

func setCell(cell *records.Cell, c Column, i int) error {
	if !c.Present(i) {
		return nil
	}
	if name, ok := strings.CutPrefix(c.Name, factorPrefix); ok {
		cell.Factors = append(cell.Factors, records.Factor{Name: name, Value: factorValue(c, i)})
		return nil
	}
	var amount **int64
	switch c.Name {
	case "cell_id":
		cell.CellID = c.Strings[i]
		return nil
	case "suite":
		cell.Suite = c.Strings[i]
		return nil
	case "operations_per_sample":
		cell.OperationsPerSample = c.Ints[i]
		return nil
	case "planned_operations":
		amount = &cell.PlannedOperations
	case "planned_warmup_operations":
		amount = &cell.PlannedWarmupOperations
	case "planned_duration_ns":
		amount = &cell.PlannedDurationNs
	case "planned_warmup_duration_ns":
		amount = &cell.PlannedWarmupDurationNs
	default:
		return nil // a column of a later version
	}
	if c.Kind != Int64Column || c.Ints[i] < 0 {
		return damaged("column %s is %s or negative in row %d", c.Name, c.Kind, i)
	}
	value := c.Ints[i]
	*amount = &value
	return nil
}

func factorValue(c Column, i int) records.FactorValue {
	switch c.Kind {
	case Int64Column:
		return records.IntFactor(c.Ints[i])
	case Float64Column:
		return records.FloatFactor(c.Floats[i])
	case BoolColumn:
		return records.BoolFactor(c.Bools[i])
	default:
		return records.StringFactor(c.Strings[i])
	}
}
