package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// ReadTable reads a table that WriteTable wrote. Every error about the file's
// content is ErrDamaged.
func ReadTable(src io.ReaderAt, size int64) (t Table, err error) {
	defer func() {
		if err != nil {
			t, err = Table{}, fmt.Errorf("read table: %w", err)
		}
	}()
	defer guard(&err)
	meta, err := inspect(src, size, withoutCRC)
	if err != nil {
		return Table{}, err
	}
	t.Metadata = make(map[string]string)
	for _, kv := range meta.KeyValueMetadata {
		if kv.Key != keyArrowSchema && !strings.HasPrefix(kv.Key, unitKey+".") {
			t.Metadata[kv.Key] = kv.Value
		}
	}
	for _, leaf := range meta.Schema[1:] {
		kind, err := kindOf(leaf)
		if err != nil {
			return Table{}, err
		}
		unit, _ := lookup(meta, unitKey+"."+leaf.Name)
		c := Column{Name: leaf.Name, Unit: unit, Kind: kind}
		if leaf.RepetitionType.V == format.Optional {
			c.Valid = []bool{}
		}
		t.Columns = append(t.Columns, c)
	}
	if meta.NumRows == 0 {
		return t, nil
	}
	file, err := parquet.OpenFile(src, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return Table{}, damaged("%v", err)
	}
	for _, group := range file.RowGroups() {
		for i, chunk := range group.ColumnChunks() {
			if err := t.Columns[i].appendChunk(chunk); err != nil {
				return Table{}, damagedColumn(t.Columns[i].Name, err)
			}
		}
	}
	if err := t.check(); err != nil {
		return Table{}, damaged("%v", err)
	}
	if int64(t.Rows()) != meta.NumRows {
		return Table{}, damaged("%d rows came out of %d", t.Rows(), meta.NumRows)
	}
	return t, nil
}

func kindOf(leaf format.SchemaElement) (ColumnKind, error) {
	switch leaf.Type.V {
	case format.Int64:
		return Int64Column, nil
	case format.Double:
		return Float64Column, nil
	case format.Boolean:
		return BoolColumn, nil
	case format.ByteArray:
		return StringColumn, nil
	default:
		return "", damaged("column %s has type %v", leaf.Name, leaf.Type.V)
	}
}

func (c *Column) appendChunk(chunk parquet.ColumnChunk) error {
	pages := chunk.Pages()
	defer pages.Close()
	values := make([]parquet.Value, readBatch)
	for {
		p, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damaged("%v", err)
		}
		reader := p.Values()
		for {
			n, err := reader.ReadValues(values)
			for _, v := range values[:n] {
				c.append(v)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return damaged("%v", err)
			}
			if n == 0 {
				return damaged("decoder stopped in the middle of a page")
			}
		}
		parquet.Release(p)
	}
}

func (c *Column) append(v parquet.Value) {
	present := !v.IsNull()
	if c.Valid != nil {
		c.Valid = append(c.Valid, present)
	}
	switch c.Kind {
	case Int64Column:
		var n int64
		if present {
			n = v.Int64()
		}
		c.Ints = append(c.Ints, n)
	case Float64Column:
		var f float64
		if present {
			f = v.Double()
		}
		c.Floats = append(c.Floats, f)
	case BoolColumn:
		c.Bools = append(c.Bools, present && v.Boolean())
	default:
		var s string
		if present {
			s = string(v.ByteArray())
		}
		c.Strings = append(c.Strings, s)
	}
}
