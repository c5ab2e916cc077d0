package parquetfile

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"pairbench/records"
)

// unitKey is the key of a unit: in Arrow's field metadata as it is, and in the
// file's metadata, for readers that know no Arrow, as "unit.<column>".
const unitKey = "unit"

// WriteTable writes a table as Parquet. The same table gives the same bytes.
func WriteTable(dst io.Writer, t Table) (err error) {
	defer guardWrite(&err)
	if err := t.check(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	record := toArrow(t)
	defer record.Release()
	properties := parquet.NewWriterProperties(
		parquet.WithRootName("table"),
		parquet.WithRootRepetition(parquet.Repetitions.Required),
		parquet.WithDictionaryDefault(false),
		parquet.WithCompression(compress.Codecs.Zstd),
		// Arrow makes a new encoder for every page; the fast one is small.
		parquet.WithCompressionLevel(1),
		parquet.WithDataPageVersion(parquet.DataPageV2),
		parquet.WithDataPageSize(pageBytes),
		parquet.WithMaxRowGroupLength(MaxRowsPerRowGroup),
		parquet.WithStats(true),
		parquet.WithCreatedBy("pairbench version "+strconv.Itoa(records.SchemaVersion)+" (build arrow)"),
	)
	// Arrow closes what it writes to, when that can be closed.
	w, err := pqarrow.NewFileWriter(record.Schema(), struct{ io.Writer }{dst}, properties,
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	// An empty record would become an empty row group, which parquet-go cannot
	// read.
	if record.NumRows() > 0 {
		if err := w.Write(record); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// guardWrite turns a panic of a library that writes into an error: the table
// came from outside, and the program must not fall over it.
func guardWrite(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("write table: encoder panicked: %v", r)
	}
}

// toArrow returns the table as one record, which the caller releases.
func toArrow(t Table) arrow.Record {
	metadata := map[string]string{keySchemaVersion: strconv.Itoa(records.SchemaVersion)}
	maps.Copy(metadata, t.Metadata)
	fields := make([]arrow.Field, len(t.Columns))
	arrays := make([]arrow.Array, len(t.Columns))
	for i, c := range t.Columns {
		field := arrow.Field{Name: c.Name, Nullable: c.Valid != nil}
		if c.Unit != "" {
			field.Metadata = arrow.NewMetadata([]string{unitKey}, []string{c.Unit})
			metadata[unitKey+"."+c.Name] = c.Unit
		}
		arrays[i] = toArray(c)
		field.Type = arrays[i].DataType()
		fields[i] = field
	}
	keys := slices.Sorted(maps.Keys(metadata))
	values := make([]string, len(keys))
	for i, key := range keys {
		values[i] = metadata[key]
	}
	file := arrow.NewMetadata(keys, values)
	record := array.NewRecord(arrow.NewSchema(fields, &file), arrays, int64(t.Rows()))
	for _, a := range arrays {
		a.Release()
	}
	return record
}

func toArray(c Column) arrow.Array {
	switch c.Kind {
	case Int64Column:
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(c.Ints, c.Valid)
		return b.NewArray()
	case Float64Column:
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(c.Floats, c.Valid)
		return b.NewArray()
	case BoolColumn:
		b := array.NewBooleanBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(c.Bools, c.Valid)
		return b.NewArray()
	default:
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		texts := make([]string, len(c.Strings))
		for i, text := range c.Strings {
			texts[i] = strings.ToValidUTF8(text, "\uFFFD")
		}
		b.AppendValues(texts, c.Valid)
		return b.NewArray()
	}
}
