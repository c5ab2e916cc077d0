package parquetfile

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"pairbench/records"
)

// RowWriter writes a fixed table row by row. A row group is closed when it
// holds enough, so that the memory it takes does not grow with the table.
type RowWriter[Row any] struct {
	w       *parquet.GenericWriter[Row]
	prepare func(*Row) // may be nil
	weigh   func(Row) int
	pending int
	row     [1]Row
}

// rowGroupWeight is how many bytes of free text a row group of a fixed table
// may hold before it is closed.
const rowGroupWeight = 16 << 20

// Write appends one row. Bytes of its strings that are no UTF-8 become U+FFFD:
// many readers refuse a whole file for one of them.
func (w *RowWriter[Row]) Write(row Row) error {
	validUTF8(&row)
	if w.prepare != nil {
		w.prepare(&row)
	}
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

// freeText are the columns whose values are as long as a program likes. Bounds
// would put whole values into headers, index and footer.
var freeText = [...]string{
	"stdout", "stderr", "argv", "outcome_detail", "runtime", "versions",
	"value", "absent_reason", "gap", "name", "path", "required_by",
}

func newTableWriter[Row any](dst io.Writer) *parquet.GenericWriter[Row] {
	options := append(writerOptions(tablePageBytes), unitOptions[Row]()...)
	for _, column := range freeText {
		options = append(options, parquet.SkipPageBounds(column))
	}
	return parquet.NewGenericWriter[Row](dst, options...)
}

// NewProcessWriter writes data/processes.parquet. StartedAt is derived from
// StartedUnixNs.
func NewProcessWriter(dst io.Writer) *RowWriter[records.Process] {
	return &RowWriter[records.Process]{
		w: newTableWriter[records.Process](dst),
		prepare: func(p *records.Process) {
			// The two are one instant; only one of them can be wrong.
			p.StartedAt = nil
			if p.StartedUnixNs != nil {
				p.Start(time.Unix(0, *p.StartedUnixNs))
			}
		},
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
	w := &RowWriter[Row]{w: newTableWriter[Row](dst), weigh: func(Row) int { return 0 }}
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			return fmt.Errorf("write %s: %w", table, err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write %s: %w", table, err)
	}
	return nil
}

// validUTF8 replaces what is no UTF-8 in the strings of a row, in place.
func validUTF8(row any) {
	v := reflect.ValueOf(row).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		if field.Kind() == reflect.Pointer && !field.IsNil() && field.Elem().Kind() == reflect.String {
			if text := field.Elem().String(); !utf8.ValidString(text) {
				fixed := reflect.New(field.Type().Elem())
				fixed.Elem().SetString(strings.ToValidUTF8(text, "\uFFFD"))
				field.Set(fixed)
			}
		}
		if field.Kind() == reflect.String && !utf8.ValidString(field.String()) {
			field.SetString(strings.ToValidUTF8(field.String(), "\uFFFD"))
		}
	}
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
