package parquetfile

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pairbench/records"
)

// requiredColumns are the names that other programs rely on.
const requiredProcessColumns = "process_no process_id suite cell_id arm side round slot first_in_pair started_at started_unix_ns argv outcome " +
	"exit_code signal stdout stdout_bytes stdout_sha256 stderr stderr_bytes stderr_sha256 measured_operations warmup_operations errors " +
	"incomplete warmup_errors elapsed_ns cpu_ns cpu_user_ns cpu_system_ns cpu_wall_ns cpu_scope peak_rss_bytes peak_rss_source rss_floor_bytes"

func TestProcessesRoundTrip(t *testing.T) {
	first, second := testProcess(), testProcess()
	second.ProcessNo = 2
	second.Start(time.Unix(0, -1))
	third := testProcess()
	third.StartedAt, third.StartedUnixNs = nil, nil
	second.CPUScope, second.PeakRSSSource, second.ElapsedNs, second.Stdout = nil, nil, nil, []byte{}
	detail, code := "broken \xff text", int32(-3)
	second.OutcomeDetail, second.ExitCode = &detail, &code
	for name, rows := range map[string][]records.Process{"three": {first, second, third}, "none": nil} {
		var content bytes.Buffer
		if err := WriteProcesses(&content, rows); err != nil {
			t.Fatal(err)
		}
		got, err := ReadProcesses(bytes.NewReader(content.Bytes()), int64(content.Len()))
		if err != nil {
			t.Fatal(err)
		}
		want := append([]records.Process(nil), rows...)
		if len(want) > 0 {
			fixed := "broken \uFFFD text"
			want[1].OutcomeDetail = &fixed
			cut := time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC)
			want[1].StartedAt = &cut
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		columns, n, err := Describe(bytes.NewReader(content.Bytes()), int64(content.Len()))
		if err != nil || n != int64(len(rows)) {
			t.Fatalf("%s: %d rows (%v)", name, n, err)
		}
		names := make(map[string]ColumnInfo)
		for _, c := range columns {
			names[c.Name] = c
		}
		for column := range strings.FieldsSeq(requiredProcessColumns) {
			if _, ok := names[column]; !ok {
				t.Errorf("column %s is missing", column)
			}
		}
		for column, want := range map[string]ColumnInfo{
			"started_at": {Name: "started_at", Type: "datetime", Nullable: true}, "stdout": {Name: "stdout", Type: "any"},
			"suite": {Name: "suite", Type: "string"}, "elapsed_ns": {Name: "elapsed_ns", Type: "integer", Unit: "ns", Nullable: true},
		} {
			if diff := cmp.Diff(want, names[column]); diff != "" {
				t.Error(diff)
			}
		}
		if table := arrowTable(t, content.Bytes()); int(table.NumRows()) != len(rows) {
			t.Errorf("%s: arrow reads %d rows", name, table.NumRows())
		}
	}
}

func TestManyRowsStayInBoundedRowGroups(t *testing.T) {
	var content bytes.Buffer
	w := NewProcessWriter(&content)
	p := testProcess()
	p.Stdout = bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	for no := range int32(10) {
		p.ProcessNo = no + 1
		if err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rows := 0
	err := EachProcess(bytes.NewReader(content.Bytes()), int64(content.Len()), func(got records.Process) error {
		rows++
		if int(got.ProcessNo) != rows || !bytes.Equal(got.Stdout, p.Stdout) {
			t.Errorf("row %d is process %d with %d bytes of output", rows, got.ProcessNo, len(got.Stdout))
		}
		return nil
	})
	if err != nil || rows != 10 {
		t.Errorf("%d rows (%v)", rows, err)
	}
	meta, _, err := readFooter(bytes.NewReader(content.Bytes()), int64(content.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(meta.RowGroups) < 2 || content.Len() > 4<<20 {
		t.Errorf("%d row groups and %d bytes for 40 MiB of repetitive output", len(meta.RowGroups), content.Len())
	}
}

// TestColumnsHaveTypesThatEveryReaderTakes holds the model's tags to the types
// that the design allows.
func TestColumnsHaveTypesThatEveryReaderTakes(t *testing.T) {
	for _, row := range []any{records.Process{}, records.HostFact{}, records.Input{}, closedRow{}, openRow{}} {
		typ := reflect.TypeOf(row)
		for i := range typ.NumField() {
			field := typ.Field(i)
			tag := field.Tag.Get("parquet")
			of := field.Type
			optional := of.Kind() == reflect.Pointer
			if optional {
				of = of.Elem()
			}
			kind := of.Kind()
			if optional != strings.Contains(tag, ",optional") {
				t.Errorf("%s.%s: pointer %v, tag %q", typ.Name(), field.Name, optional, tag)
			}
			text := kind == reflect.String || kind == reflect.Slice
			if encoded := strings.Contains(tag, ",plain") || strings.Contains(tag, ",dict"); text && !encoded {
				t.Errorf("%s.%s: text without dict or plain would be DELTA_LENGTH_BYTE_ARRAY: %q", typ.Name(), field.Name, tag)
			}
			switch kind {
			case reflect.Int32, reflect.Int64, reflect.Bool, reflect.String, reflect.Slice:
			default:
				if of != reflect.TypeFor[time.Time]() {
					t.Errorf("%s.%s is %s", typ.Name(), field.Name, field.Type)
				}
			}
		}
	}
}

func TestMergeCopiesPagesAsTheyAre(t *testing.T) {
	var merged bytes.Buffer
	m := NewMerger(&merged)
	sources := make(map[int32][]byte)
	for no, rows := range map[int32]int{1: 100, 2: MaxRowsPerRowGroup + 5, 3: 0} {
		sources[no] = encodeSamples(t, new(SampleWriter), sampleMeta(no), testSamples(no, rows, false))
		if err := m.Add(bytes.NewReader(sources[no]), int64(len(sources[no]))); err != nil {
			t.Fatal(err)
		}
	}
	open := encodeSamples(t, new(SampleWriter), sampleMeta(4), testSamples(4, 10, true))
	if err := m.Add(bytes.NewReader(open), int64(len(open))); err == nil {
		t.Error("an open loop went into a file of closed loops")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	index, err := OpenMerged(bytes.NewReader(merged.Bytes()), int64(merged.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var r SampleReader
	for no, source := range sources {
		want, err := readSamples(source)
		if err != nil {
			t.Fatal(err)
		}
		if err := index.Reset(&r, bytes.NewReader(merged.Bytes()), no); err != nil {
			t.Fatal(err)
		}
		if !equalValues(want.LatencyNs, collect(t, r.EachLatency)) || !equalValues(want.StartNs, collect(t, r.EachStart)) {
			t.Errorf("process %d: other samples came back", no)
		}
		meta, _, err := readFooter(bytes.NewReader(source), int64(len(source)))
		if err != nil {
			t.Fatal(err)
		}
		for g := range meta.RowGroups {
			for c := range meta.RowGroups[g].Columns {
				chunk := meta.RowGroups[g].Columns[c].MetaData
				pages := source[chunkStart(&chunk) : chunkStart(&chunk)+chunk.TotalCompressedSize]
				if !bytes.Contains(merged.Bytes(), pages) {
					t.Errorf("process %d: column %d of row group %d is not copied as it is", no, c, g)
				}
			}
		}
	}
}

func BenchmarkWriteSamples(b *testing.B) {
	var w SampleWriter
	s := testSamples(1, 210_000, false)
	var bytesOut int64
	b.ResetTimer()
	for b.Loop() {
		written, err := w.Write(discard{}, sampleMeta(1), s)
		if err != nil {
			b.Fatal(err)
		}
		bytesOut = written.Bytes
	}
	b.ReportMetric(float64(s.Len())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	b.ReportMetric(float64(bytesOut)/float64(s.Len()), "bytes/sample")
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func BenchmarkReadLatencies(b *testing.B) {
	content := encodeSamples(b, new(SampleWriter), sampleMeta(1), testSamples(1, 210_000, false))
	var r SampleReader
	b.ResetTimer()
	for b.Loop() {
		if err := r.Reset(bytes.NewReader(content), int64(len(content))); err != nil {
			b.Fatal(err)
		}
		if err := r.EachLatency(func([]int64) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(210_000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkMerge(b *testing.B) {
	var sources [][]byte
	for no := int32(1); no <= 96; no++ {
		sources = append(sources, encodeSamples(b, new(SampleWriter), sampleMeta(no), testSamples(no, 20_000, false)))
	}
	b.ResetTimer()
	for b.Loop() {
		m := NewMerger(discard{})
		for _, source := range sources {
			if err := m.Add(bytes.NewReader(source), int64(len(source))); err != nil {
				b.Fatal(err)
			}
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(96*20_000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
