package parquetfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"pairbench/records"
)

// ReadArrowSamples reads the samples that a driver sent as an Arrow IPC stream:
// int64 columns start_ns, latency_ns and, for an open loop, scheduled_ns,
// without nulls, in any order and in any number of batches. Other columns are
// ignored. At most maxRows are accepted. ProcessNo is left to the caller. Every
// error about the content is ErrDamaged.
func ReadArrowSamples(src io.Reader, maxRows int64) (s records.Samples, err error) {
	defer func() {
		if err != nil {
			s, err = records.Samples{}, fmt.Errorf("read Arrow samples: %w", err)
		}
	}()
	defer guard(&err)
	reader, err := ipc.NewReaderFromMessageReader(&arrowMessages{src: src},
		ipc.WithAllocator(&boundedAllocator{Allocator: memory.NewGoAllocator(), limit: maxArrowBatchBytes}))
	if err != nil {
		return s, damaged("%v", err)
	}
	defer reader.Release()
	columns, err := arrowColumns(reader.Schema())
	if err != nil {
		return s, err
	}
	targets := [...]*[]int64{&s.StartNs, &s.LatencyNs, &s.ScheduledNs}
	s.StartNs, s.LatencyNs = []int64{}, []int64{}
	if columns[2] >= 0 {
		s.ScheduledNs = []int64{}
	}
	for reader.Next() {
		batch := reader.Record()
		if batch.NumRows() > maxRows-int64(s.Len()) {
			return s, damaged("more than %d samples", maxRows)
		}
		for i, column := range columns {
			if column < 0 {
				continue
			}
			values, err := arrowValues(batch.Column(column), batch.NumRows())
			if err != nil {
				return s, fmt.Errorf("column %s: %w", arrowNames[i], err)
			}
			*targets[i] = append(*targets[i], values...)
		}
	}
	if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
		return s, damaged("%v", err)
	}
	return s, nil
}

var arrowNames = [...]string{"start_ns", "latency_ns", "scheduled_ns"}

// arrowColumns finds the columns by name; -1 stands for an absent schedule.
func arrowColumns(schema *arrow.Schema) (columns [len(arrowNames)]int, err error) {
	for i, name := range arrowNames {
		found := schema.FieldIndices(name)
		switch {
		case len(found) == 1 && schema.Field(found[0]).Type.ID() == arrow.INT64:
			columns[i] = found[0]
		case len(found) == 0 && name == "scheduled_ns":
			columns[i] = -1
		default:
			return columns, damaged("want one int64 column %s, found %d of that name in %s", name, len(found), schema)
		}
	}
	return columns, nil
}

// arrowValues returns a column's values once its buffers are known to hold them.
func arrowValues(column arrow.Array, rows int64) ([]int64, error) {
	values, ok := column.(*array.Int64)
	if !ok || int64(values.Len()) != rows || int64(len(values.Int64Values())) != rows {
		return nil, damaged("%d values for %d rows", column.Len(), rows)
	}
	if values.NullN() != 0 {
		return nil, damaged("%d nulls", values.NullN())
	}
	if i, negative := firstNegative(values.Int64Values()); negative {
		return nil, damaged("value %d is %d", i, values.Value(i))
	}
	return values.Int64Values(), nil
}

// SamplesTable returns the samples of one process as a table, for export.
func SamplesTable(s records.Samples) Table {
	no := make([]int64, s.Len())
	seq := make([]int64, s.Len())
	for i := range no {
		no[i], seq[i] = int64(s.ProcessNo), int64(i)
	}
	t := Table{Columns: []Column{
		{Name: "process_no", Kind: Int64Column, Ints: no},
		{Name: "seq", Kind: Int64Column, Ints: seq},
		{Name: "start_ns", Unit: "ns", Kind: Int64Column, Ints: s.StartNs},
		{Name: "latency_ns", Unit: "ns", Kind: Int64Column, Ints: s.LatencyNs},
	}}
	if s.ScheduledNs != nil {
		t.Columns = append(t.Columns, Column{Name: "scheduled_ns", Unit: "ns", Kind: Int64Column, Ints: s.ScheduledNs})
	}
	return t
}
