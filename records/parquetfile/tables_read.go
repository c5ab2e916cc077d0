package parquetfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
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
	meta, err := inspect(src, size, withCRC)
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(src, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return damaged("%v", err)
	}
	if err := checkColumns(file.Schema(), parquet.SchemaOf(new(Row))); err != nil {
		return err
	}
	if meta.NumRows == 0 {
		return nil
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

// checkColumns wants every column of the wanted schema in the file, of the same
// physical and logical type, except optional ones that a file of an older
// version may lack or always fill. Left to itself the library would convert or fill in zeros.
func checkColumns(file, want *parquet.Schema) error {
	present := make(map[string]parquet.Field)
	for _, field := range file.Fields() {
		present[field.Name()] = field
	}
	for _, field := range want.Fields() {
		got, ok := present[field.Name()]
		switch {
		case !ok && !field.Optional():
			return damaged("column %s is missing", field.Name())
		case ok && !parquet.EqualNodes(got, field) && !(got.Required() && parquet.EqualNodes(parquet.Optional(got), field)):
			return damaged("column %s is %v, optional %v; want %v, optional %v",
				field.Name(), got.Type(), got.Optional(), field.Type(), field.Optional())
		}
	}
	return nil
}
