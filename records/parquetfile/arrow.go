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
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

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
	if err := writeTable(dst, t); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func writeTable(dst io.Writer, t Table) error {
	fields := make(schema.FieldList, len(t.Columns))
	for i, c := range t.Columns {
		field, err := tableField(c)
		if err != nil {
			return err
		}
		fields[i] = field
	}
	root, err := schema.NewGroupNode("table", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return err
	}
	arrowSchema := schemaOf(t)
	stored, err := storedSchema(arrowSchema)
	if err != nil {
		return err
	}
	own, meta := arrowSchema.Metadata(), metadata.NewKeyValueMetadata()
	for i, key := range own.Keys() {
		// It keeps out what is not UTF-8, as the format wants.
		_ = meta.Append(key, own.Values()[i])
	}
	_ = meta.Append(keyArrowSchema, stored)
	// Arrow closes what it writes to, when that can be closed.
	w := file.NewParquetWriter(struct{ io.Writer }{dst}, root, file.WithWriteMetadata(meta), file.WithWriterProps(parquet.NewWriterProperties(
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
	)))
	// A table without rows has no row group: parquet-go cannot read an empty one.
	for from := 0; from < t.Rows(); from += MaxRowsPerRowGroup {
		if err := writeRowGroup(w.AppendRowGroup(), t, from, min(from+MaxRowsPerRowGroup, t.Rows())); err != nil {
			return err
		}
	}
	return w.Close()
}

func tableField(c Column) (schema.Node, error) {
	repetition := parquet.Repetitions.Required
	if c.Valid != nil {
		repetition = parquet.Repetitions.Optional
	}
	switch c.Kind {
	case Int64Column:
		return schema.NewPrimitiveNodeLogical(c.Name, repetition, schema.NewIntLogicalType(64, true), parquet.Types.Int64, -1, -1)
	case Float64Column:
		return schema.NewPrimitiveNode(c.Name, repetition, parquet.Types.Double, -1, -1)
	case BoolColumn:
		return schema.NewPrimitiveNode(c.Name, repetition, parquet.Types.Boolean, -1, -1)
	default:
		return schema.NewPrimitiveNodeLogical(c.Name, repetition, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1)
	}
}

func writeRowGroup(group file.SerialRowGroupWriter, t Table, from, to int) error {
	for _, c := range t.Columns {
		w, err := group.NextColumn()
		if err != nil {
			return err
		}
		if err := writeColumn(w, c, from, to); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		if err := w.Close(); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return group.Close()
}

func writeColumn(w file.ColumnChunkWriter, c Column, from, to int) (err error) {
	var levels []int16
	if c.Valid != nil {
		levels = make([]int16, to-from)
		for i, valid := range c.Valid[from:to] {
			if valid {
				levels[i] = 1
			}
		}
	}
	switch w := w.(type) {
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(present(c, c.Ints, from, to), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(present(c, c.Floats, from, to), levels, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(present(c, c.Bools, from, to), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		texts := present(c, c.Strings, from, to)
		values := make([]parquet.ByteArray, len(texts))
		for i, text := range texts {
			values[i] = parquet.ByteArray(strings.ToValidUTF8(text, "\uFFFD"))
		}
		_, err = w.WriteBatch(values, levels, nil)
	default:
		err = fmt.Errorf("no writer for kind %s but %T", c.Kind, w)
	}
	return err
}

// present returns the values of a column's rows that are there.
func present[T any](c Column, values []T, from, to int) []T {
	if c.Valid == nil {
		return values[from:to]
	}
	var there []T
	for i := from; i < to; i++ {
		if c.Valid[i] {
			there = append(there, values[i])
		}
	}
	return there
}

// guardWrite turns a panic of a library that writes into an error: the table
// came from outside, and the program must not fall over it.
func guardWrite(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("write table: encoder panicked: %v", r)
	}
}

// schemaOf returns the table's schema with its metadata in a stable order.
func schemaOf(t Table) *arrow.Schema {
	metadata := map[string]string{keySchemaVersion: strconv.Itoa(records.SchemaVersion)}
	maps.Copy(metadata, t.Metadata)
	fields := make([]arrow.Field, len(t.Columns))
	for i, c := range t.Columns {
		field := arrow.Field{Name: c.Name, Type: c.arrowType(), Nullable: c.Valid != nil}
		if c.Unit != "" {
			field.Metadata = arrow.NewMetadata([]string{unitKey}, []string{c.Unit})
			metadata[unitKey+"."+c.Name] = c.Unit
		}
		fields[i] = field
	}
	keys := slices.Sorted(maps.Keys(metadata))
	values := make([]string, len(keys))
	for i, key := range keys {
		values[i] = metadata[key]
	}
	own := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(fields, &own)
}

func (c Column) arrowType() arrow.DataType {
	switch c.Kind {
	case Int64Column:
		return arrow.PrimitiveTypes.Int64
	case Float64Column:
		return arrow.PrimitiveTypes.Float64
	case BoolColumn:
		return arrow.FixedWidthTypes.Boolean
	default:
		return arrow.BinaryTypes.String
	}
}

// toArrow returns the table as one record, which the caller releases.
func toArrow(t Table) arrow.Record {
	arrays := make([]arrow.Array, len(t.Columns))
	for i, c := range t.Columns {
		arrays[i] = toArray(c)
	}
	record := array.NewRecord(schemaOf(t), arrays, int64(t.Rows()))
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
