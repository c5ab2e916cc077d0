package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// WriteArrowFile writes tables with the same columns, the first of which gives
// the schema, as an Arrow IPC file: one record batch a table, none for a table
// without rows. An error among the tables is returned as it is. Units stand in
// the metadata of the fields.
func WriteArrowFile(dst io.Writer, tables iter.Seq2[Table, error]) (err error) {
	defer guardWrite(&err)
	var w *ipc.FileWriter
	for t, err := range tables {
		if err != nil {
			return err
		}
		if err := t.check(); err != nil {
			return fmt.Errorf("write Arrow file: %w", err)
		}
		if w, err = appendBatch(dst, w, t); err != nil {
			return fmt.Errorf("write Arrow file: %w", err)
		}
	}
	if w == nil {
		return errors.New("write Arrow file: no table, and so no columns")
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write Arrow file: %w", err)
	}
	return nil
}

// appendBatch writes a table as one batch, and what comes before the first.
func appendBatch(dst io.Writer, w *ipc.FileWriter, t Table) (*ipc.FileWriter, error) {
	record := toArrow(t)
	defer record.Release()
	if w == nil {
		var err error
		if w, err = ipc.NewFileWriter(&position{dst: dst}, ipc.WithSchema(record.Schema())); err != nil {
			return nil, err
		}
	}
	if record.NumRows() == 0 {
		return w, nil
	}
	return w, w.Write(record)
}

// position tells Arrow, which asks by seeking, how much was written.
type position struct {
	dst io.Writer
	n   int64
}

func (p *position) Write(b []byte) (int, error) {
	n, err := p.dst.Write(b)
	p.n += int64(n)
	return n, err
}

func (p *position) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.New("this writer only goes on")
	}
	return p.n, nil
}
