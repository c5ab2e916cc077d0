package parquetfile

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"pairbench/records"
)

// RowWriter writes a fixed table row by row. A row group is closed when it
// holds enough, so that the memory it takes does not grow with the table.
type RowWriter[Row any] struct {
	w       *parquet.GenericWriter[Row]
	weigh   func(Row) int
	pending int
	row     [1]Row
}

// rowGroupWeight is how many bytes of free text a row group of a fixed table
// may hold before it is closed.
const rowGroupWeight = 16 << 20

// Write appends one row.
func (w *RowWriter[Row]) Write(row Row) error {
	w.row[0] = row
	if _, err := w.w.Write(w.row[:]); err != nil {
		return err
	}
	if w.pending += w.weigh(row); w.pending >= rowGroupWeight {
		w.pending = 0
		return w.w.Flush()
	}
	return nil
}

// Close writes the footer. The underlying writer stays open.
func (w *RowWriter[Row]) Close() error { return w.w.Close() }

// tablePageBytes is the page size of a fixed table, which has many columns and
// few rows.
const tablePageBytes = 16 << 10

func newTableWriter[Row any](dst io.Writer) *parquet.GenericWriter[Row] {
	return parquet.NewGenericWriter[Row](dst, writerOptions(tablePageBytes)...)
}

// NewProcessWriter writes data/processes.parquet.
func NewProcessWriter(dst io.Writer) *RowWriter[records.Process] {
	return &RowWriter[records.Process]{
		w: newTableWriter[records.Process](dst),
		weigh: func(p records.Process) int {
			return len(p.Stdout) + len(p.Stderr) + len(p.Argv) + 512
		},
	}
}

// WriteProcesses writes data/processes.parquet from rows in memory.
func WriteProcesses(dst io.Writer, rows []records.Process) error {
	w := NewProcessWriter(dst)
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return fmt.Errorf("write processes: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write processes: %w", err)
	}
	return nil
}

// WriteHost writes data/host.parquet.
func WriteHost(dst io.Writer, rows []records.HostFact) error {
	return writeRows(dst, "host", rows)
}

// WriteInputs writes data/inputs.parquet.
func WriteInputs(dst io.Writer, rows []records.Input) error {
	return writeRows(dst, "inputs", rows)
}

func writeRows[Row any](dst io.Writer, table string, rows []Row) error {
	w := newTableWriter[Row](dst)
	if _, err := w.Write(rows); err != nil {
		return fmt.Errorf("write %s: %w", table, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write %s: %w", table, err)
	}
	return nil
}

// ReadProcesses reads data/processes.parquet whole.
func ReadProcesses(src io.ReaderAt, size int64) ([]records.Process, error) {
	return readRows[records.Process](src, size, "processes")
}

// ReadHost reads data/host.parquet.
func ReadHost(src io.ReaderAt, size int64) ([]records.HostFact, error) {
	return readRows[records.HostFact](src, size, "host")
}

// ReadInputs reads data/inputs.parquet.
func ReadInputs(src io.ReaderAt, size int64) ([]records.Input, error) {
	return readRows[records.Input](src, size, "inputs")
}

// EachProcess reads data/processes.parquet row by row.
func EachProcess(src io.ReaderAt, size int64, visit func(records.Process) error) error {
	return eachRow(src, size, "processes", visit)
}
