package parquetfile

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pairbench/records"
)

// arrowTable reads a Parquet file with Arrow, the reader that the product does
// not use.
func arrowTable(t *testing.T, content []byte) arrow.Table {
	t.Helper()
	reader, err := file.NewParquetReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	arrowReader, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{BatchSize: 1 << 16}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := arrowReader.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func arrowInts(t *testing.T, table arrow.Table, name string) []int64 {
	t.Helper()
	found := table.Schema().FieldIndices(name)
	if len(found) != 1 {
		t.Fatalf("arrow finds %d columns %s in %s", len(found), name, table.Schema())
	}
	values := []int64{}
	for _, chunk := range table.Column(found[0]).Data().Chunks() {
		switch c := chunk.(type) {
		case *array.Int64:
			values = append(values, c.Int64Values()...)
		case *array.Int32:
			for _, v := range c.Int32Values() {
				values = append(values, int64(v))
			}
		default:
			t.Fatalf("column %s is %s", name, chunk.DataType())
		}
	}
	return values
}

// TestArrowReadsWhatParquetGoWrote is the independent second reader of samples.
func TestArrowReadsWhatParquetGoWrote(t *testing.T) {
	for _, rows := range []int{0, 1, 130, 40_000} {
		s := testSamples(3, rows, true)
		content := encodeSamples(t, new(SampleWriter), sampleMeta(3), s)
		table := arrowTable(t, content)
		for name, want := range map[string][]int64{"start_ns": s.StartNs, "latency_ns": s.LatencyNs, "scheduled_ns": s.ScheduledNs} {
			if got := arrowInts(t, table, name); !equalValues(want, got) {
				t.Errorf("%d rows: arrow reads another %s", rows, name)
			}
		}
		for i, v := range arrowInts(t, table, "process_no") {
			if v != 3 {
				t.Fatalf("process_no[%d] is %d", i, v)
			}
		}
	}
}

func testTable() Table {
	return Table{
		Metadata: map[string]string{"study": "demo"},
		Columns: []Column{
			{Name: "cell_id", Kind: StringColumn, Strings: []string{"a", "ü|b", ""}},
			{Name: "latency_ns", Unit: "ns", Kind: Int64Column, Ints: []int64{0, math.MaxInt64, -5}, Valid: []bool{true, true, false}},
			{Name: "cpu_pct", Unit: "%", Kind: Float64Column, Floats: []float64{0.1, 0, -1e300}, Valid: []bool{true, false, true}},
			{Name: "overlap", Kind: BoolColumn, Bools: []bool{true, false, true}, Valid: []bool{true, true, false}},
			{Name: "n", Kind: Int64Column, Ints: []int64{1, 2, 3}},
		},
	}
}

// emptied returns the table without its rows.
func emptied(t Table) Table {
	for i := range t.Columns {
		c := &t.Columns[i]
		c.Ints, c.Floats, c.Bools, c.Strings = nil, nil, nil, nil
		if c.Valid != nil {
			c.Valid = []bool{}
		}
	}
	return t
}

func TestTableRoundTrip(t *testing.T) {
	for name, table := range map[string]Table{"rows": testTable(), "empty": emptied(testTable())} {
		var content, again bytes.Buffer
		if err := WriteTable(&content, table); err != nil {
			t.Fatal(err)
		}
		if err := WriteTable(&again, table); err != nil || !bytes.Equal(content.Bytes(), again.Bytes()) {
			t.Errorf("%s: the same table gave other bytes (%v)", name, err)
		}
		got, err := ReadTable(bytes.NewReader(content.Bytes()), int64(content.Len()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := table
		want.Metadata = map[string]string{"study": "demo", keySchemaVersion: "1"}
		// What stands in the place of an absent value is lost, as it should be.
		for i := range want.Columns {
			for j := range want.Columns[i].Valid {
				if c := &want.Columns[i]; !c.Valid[j] && c.Kind == Int64Column {
					c.Ints[j] = 0
				} else if !c.Valid[j] && c.Kind == BoolColumn {
					c.Bools[j] = false
				}
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		schema := arrowTable(t, content.Bytes()).Schema()
		field, _ := schema.FieldsByName("latency_ns")
		if unit, _ := field[0].Metadata.GetValue(unitKey); unit != "ns" {
			t.Errorf("%s: arrow sees unit %q of latency_ns", name, unit)
		}
	}
}

func TestBadTablesAreRefused(t *testing.T) {
	for name, table := range map[string]Table{
		"no columns":     {},
		"unequal":        {Columns: []Column{{Name: "a", Kind: Int64Column, Ints: []int64{1}}, {Name: "b", Kind: Int64Column}}},
		"twice":          {Columns: []Column{{Name: "a", Kind: Int64Column}, {Name: "a", Kind: Int64Column}}},
		"not a number":   {Columns: []Column{{Name: "a", Kind: Float64Column, Floats: []float64{math.NaN()}}}},
		"infinite":       {Columns: []Column{{Name: "a", Kind: Float64Column, Floats: []float64{math.Inf(1)}}}},
		"no kind":        {Columns: []Column{{Name: "a"}}},
		"short validity": {Columns: []Column{{Name: "a", Kind: Int64Column, Ints: []int64{1}, Valid: []bool{}}}},
	} {
		var out bytes.Buffer
		if err := WriteTable(&out, table); err == nil || out.Len() != 0 {
			t.Errorf("%s: error %v, %d bytes", name, err, out.Len())
		}
	}
}

// arrowStream is what a driver writes: one batch in an Arrow IPC stream.
func arrowStream(t testing.TB, s records.Samples) []byte {
	t.Helper()
	record := toArrow(SamplesTable(s))
	defer record.Release()
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(record.Schema()))
	if record.NumRows() > 0 {
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return stream.Bytes()
}

func TestArrowSamplesRoundTrip(t *testing.T) {
	for _, rows := range []int{0, 1, 10_000} {
		for _, open := range []bool{false, true} {
			want := testSamples(1, rows, open)
			got, err := ReadArrowSamples(bytes.NewReader(arrowStream(t, want)), int64(rows))
			want.ProcessNo = 0
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("%d rows, open %v: %v\n%s", rows, open, err, diff)
			}
		}
	}
	if _, err := ReadArrowSamples(bytes.NewReader(arrowStream(t, testSamples(1, 10, false))), 9); !errors.Is(err, ErrDamaged) {
		t.Errorf("more samples than allowed: %v, want ErrDamaged", err)
	}
}

func TestArrowSamplesInManyCompressedBatches(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "latency_ns", Type: arrow.PrimitiveTypes.Int64}, {Name: "start_ns", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema), ipc.WithZstd())
	want := testSamples(1, 900, false)
	for from := 0; from < 900; from += 300 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		b.Field(0).(*array.Int64Builder).AppendValues(want.LatencyNs[from:from+300], nil)
		b.Field(1).(*array.Int64Builder).AppendValues(want.StartNs[from:from+300], nil)
		if err := w.Write(b.NewRecord()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadArrowSamples(&stream, 1000)
	if err != nil || !equalValues(want.LatencyNs, got.LatencyNs) || !equalValues(want.StartNs, got.StartNs) {
		t.Errorf("other samples came back (%v)", err)
	}
}

// TestDamagedArrowStreams flips every byte: no crash, and never more samples
// than allowed. There is no checksum, so other values can come out; the caller
// holds them against the driver's counts.
func TestDamagedArrowStreams(t *testing.T) {
	stream := arrowStream(t, testSamples(1, 20, false))
	for at := range stream {
		for _, bit := range []byte{0x01, 0x80, 0xff} {
			damaged := bytes.Clone(stream)
			damaged[at] ^= bit
			s, err := ReadArrowSamples(bytes.NewReader(damaged), 20)
			if err == nil && (s.Len() > 20 || len(s.StartNs) != s.Len()) {
				t.Errorf("byte %d: %d starts and %d latencies", at, len(s.StartNs), s.Len())
			}
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("byte %d: %v, want ErrDamaged", at, err)
			}
		}
		// Arrow lets a stream end between two messages.
		if s, err := ReadArrowSamples(bytes.NewReader(stream[:at]), 20); at < len(stream)-8 && s.Len() > 0 || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at %d: %d samples, %v", at, s.Len(), err)
		}
	}
}
