package parquetfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// readBatch is how many rows of a fixed table are decoded at once.
const readBatch = 256

// eachRow calls visit with one row of a fixed table after another.
func eachRow[Row any](src io.ReaderAt, size int64, table string, visit func(Row) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read %s: %w", table, err)
		}
	}()
	defer guard(&err)
	meta, err := inspect(src, size)
	if err != nil {
		return err
	}
	if err := checkColumns(meta, parquet.SchemaOf(new(Row))); err != nil {
		return err
	}
	if meta.NumRows == 0 {
		return nil
	}
	file, err := parquet.OpenFile(src, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return damaged("%v", err)
	}
	reader := parquet.NewGenericReader[Row](file)
	defer reader.Close()
	batch := make([]Row, readBatch)
	var rows int64
	for {
		clear(batch)
		n, err := reader.Read(batch)
		for _, row := range batch[:n] {
			if err := visit(row); err != nil {
				return err
			}
		}
		rows += int64(n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return damaged("%v", err)
		}
		if n == 0 {
			return damaged("decoder stopped at row %d", rows)
		}
	}
	if rows != meta.NumRows {
		return damaged("%d rows came out of %d", rows, meta.NumRows)
	}
	return nil
}

func readRows[Row any](src io.ReaderAt, size int64, table string) ([]Row, error) {
	var rows []Row
	err := eachRow(src, size, table, func(row Row) error {
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// checkColumns wants every column of schema in the file, with the same type,
// except optional ones that a file of an older version may lack.
func checkColumns(meta *format.FileMetaData, schema *parquet.Schema) error {
	present := make(map[string]format.SchemaElement, len(meta.Schema))
	for _, leaf := range meta.Schema[1:] {
		present[leaf.Name] = leaf
	}
	for _, field := range schema.Fields() {
		leaf, ok := present[field.Name()]
		if !ok {
			if field.Optional() {
				continue
			}
			return damaged("column %s is missing", field.Name())
		}
		if parquet.Kind(leaf.Type.V) != field.Type().Kind() || (leaf.RepetitionType.V == format.Optional) != field.Optional() {
			return damaged("column %s is %v %v, want %v", field.Name(), leaf.RepetitionType.V, leaf.Type.V, field.Type())
		}
	}
	return nil
}
