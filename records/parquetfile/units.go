package parquetfile

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// keyArrowSchema is where Arrow's readers find field metadata in a Parquet file.
const keyArrowSchema = "ARROW:schema"

// unitOf returns the unit of a column of a fixed table, which its name ends in;
// "" for a pure number or word.
func unitOf(column string) string {
	for _, unit := range [...]string{"ns", "bytes", "milli", "khz", "micro_per_sec"} {
		if column == unit || strings.HasSuffix(column, "_"+unit) {
			return unit
		}
	}
	return ""
}

// unitOptions put the units of a row's columns into the file's metadata, in the
// two forms that WriteTable puts them.
func unitOptions[Row any]() []parquet.WriterOption {
	var options []parquet.WriterOption
	var fields []arrow.Field
	for _, column := range parquet.SchemaOf(new(Row)).Fields() {
		field := arrow.Field{Name: column.Name(), Type: arrowType(column), Nullable: column.Optional()}
		if unit := unitOf(column.Name()); unit != "" {
			field.Metadata = arrow.NewMetadata([]string{unitKey}, []string{unit})
			options = append(options, parquet.KeyValueMetadata(unitKey+"."+column.Name(), unit))
		}
		fields = append(fields, field)
	}
	if len(options) == 0 {
		return nil
	}
	stored, err := storedSchema(arrow.NewSchema(fields, nil))
	if err != nil {
		return options
	}
	return append(options, parquet.KeyValueMetadata(keyArrowSchema, stored))
}

// storedSchema is a schema as Arrow's readers want it under keyArrowSchema: a
// stream without a batch.
func storedSchema(s *arrow.Schema) (string, error) {
	var stream bytes.Buffer
	if err := ipc.NewWriter(&stream, ipc.WithSchema(s)).Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(stream.Bytes()), nil
}

// arrowType is the type that Arrow's readers give a column by themselves.
func arrowType(column parquet.Node) arrow.DataType {
	if logical := column.Type().LogicalType(); logical != nil {
		switch logical.Value.(type) {
		case *format.TimestampType:
			return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
		case *format.StringType:
			return arrow.BinaryTypes.String
		}
	}
	switch column.Type().Kind() {
	case parquet.Int32:
		return arrow.PrimitiveTypes.Int32
	case parquet.Int64:
		return arrow.PrimitiveTypes.Int64
	case parquet.Boolean:
		return arrow.FixedWidthTypes.Boolean
	default:
		return arrow.BinaryTypes.Binary
	}
}
