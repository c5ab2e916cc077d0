package parquetfile

import (
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// ColumnInfo describes a column of a file: its place in a column dictionary.
type ColumnInfo struct {
	Name string
	// Type is a Frictionless type: integer, number, boolean, string, datetime,
	// or any for bytes.
	Type     string
	Unit     string
	Nullable bool
}

// Describe lists the columns of a file, in their order, and its rows.
func Describe(src io.ReaderAt, size int64) (columns []ColumnInfo, rows int64, err error) {
	meta, _, err := readFooter(src, size)
	if err != nil {
		return nil, 0, err
	}
	for _, leaf := range meta.Schema[1:] {
		unit, _ := lookup(meta, unitKey+"."+leaf.Name)
		columns = append(columns, ColumnInfo{
			Name: leaf.Name, Type: frictionlessType(leaf), Unit: unit,
			Nullable: leaf.RepetitionType.V == format.Optional,
		})
	}
	return columns, meta.NumRows, nil
}

func frictionlessType(leaf format.SchemaElement) string {
	_, isTime := leaf.LogicalType.Value.(*format.TimestampType)
	_, isText := leaf.LogicalType.Value.(*format.StringType)
	switch {
	case isTime:
		return "datetime"
	case isText:
		return "string"
	}
	switch leaf.Type.V {
	case format.Int32, format.Int64:
		return "integer"
	case format.Float, format.Double:
		return "number"
	case format.Boolean:
		return "boolean"
	default:
		return "any"
	}
}
