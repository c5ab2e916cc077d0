package parquetfile

import (
	"bytes"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// TestArrowFile reads back what was written with Arrow's own reader of files,
// which needs the footer that a stream lacks.
func TestArrowFile(t *testing.T) {
	tables := []Table{SamplesTable(testSamples(1, 3, false)), SamplesTable(testSamples(2, 0, false)), SamplesTable(testSamples(3, 2, false))}
	var out bytes.Buffer
	err := WriteArrowFile(&out, func(yield func(Table, error) bool) {
		for _, table := range tables {
			if !yield(table, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewFileReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.NumRecords() != 2 {
		t.Errorf("%d batches, want 2: a process without samples has none", r.NumRecords())
	}
	field, ok := r.Schema().FieldsByName("latency_ns")
	if unit, found := field[0].Metadata.GetValue("unit"); !ok || !found || unit != "ns" {
		t.Errorf("unit of latency_ns is %q", unit)
	}
	var numbers, latencies []int64
	for i := range r.NumRecords() {
		batch, err := r.Record(i)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, batch.Column(0).(*array.Int64).Int64Values()...)
		latencies = append(latencies, batch.Column(3).(*array.Int64).Int64Values()...)
	}
	if len(numbers) != 5 || numbers[0] != 1 || numbers[4] != 3 || latencies[4] != tables[2].Columns[3].Ints[1] {
		t.Errorf("process numbers %v, latencies %v", numbers, latencies)
	}
}

func TestArrowFileThatCannotBeWritten(t *testing.T) {
	broken := errors.New("the bundle is damaged")
	one := SamplesTable(testSamples(1, 3, false))
	for name, tables := range map[string]func(func(Table, error) bool){
		"no table":       func(func(Table, error) bool) {},
		"damaged source": func(yield func(Table, error) bool) { _ = yield(one, nil) && yield(Table{}, broken) },
		"no columns":     func(yield func(Table, error) bool) { yield(Table{}, nil) },
		"changed columns": func(yield func(Table, error) bool) {
			_ = yield(one, nil) && yield(SamplesTable(testSamples(2, 3, true)), nil)
		},
	} {
		err := WriteArrowFile(&bytes.Buffer{}, tables)
		if err == nil || name == "damaged source" && !errors.Is(err, broken) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
