package parquetfile

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/records"
)

func sampleMeta(no int32) records.SampleMeta {
	return records.SampleMeta{
		ProcessNo: no, ProcessID: "redis_tcp/64B/callback/1", Suite: "redis_tcp", CellID: "64B", Arm: "callback",
		Side: records.SideA, Round: 1, ClockTickNs: 20,
	}
}

// testSamples looks like a loopback run: a skewed latency with a long tail.
func testSamples(no int32, rows int, open bool) records.Samples {
	random := rand.New(rand.NewPCG(uint64(no), uint64(rows)))
	s := records.Samples{ProcessNo: no, StartNs: make([]int64, rows), LatencyNs: make([]int64, rows)}
	at := int64(0)
	for i := range rows {
		at += 8_000 + random.Int64N(4_000)
		s.StartNs[i] = at
		s.LatencyNs[i] = 12_000 + int64(math.Exp(random.NormFloat64()*0.7)*3_000)
	}
	if open {
		s.ScheduledNs = make([]int64, rows)
		for i := range rows {
			s.ScheduledNs[i] = int64(i) * 10_000
		}
	}
	return s
}

func encodeSamples(t testing.TB, w *SampleWriter, meta records.SampleMeta, s records.Samples) []byte {
	t.Helper()
	var file bytes.Buffer
	written, err := w.Write(&file, meta, s)
	if err != nil {
		t.Fatal(err)
	}
	if written.Rows != int64(s.Len()) || written.Bytes != int64(file.Len()) {
		t.Fatalf("written %d rows and %d bytes, want %d and %d", written.Rows, written.Bytes, s.Len(), file.Len())
	}
	return file.Bytes()
}

// collect gathers what an Each method visits.
func collect(t testing.TB, each func(func([]int64) error) error) []int64 {
	t.Helper()
	var all []int64
	err := each(func(values []int64) error {
		all = append(all, values...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The sizes lie around what the format has limits at: delta blocks of 128,
// pages of 32,768 INT64 and 65,536 INT32 values, row groups of 1,048,576 rows.
var sampleSizes = []int{0, 1, 2, 31, 32, 33, 128, 129, 130, 8191, 8192, 8193, 32767, 32768, 32769, 65536, 65537, MaxRowsPerRowGroup, MaxRowsPerRowGroup + 1}

func TestSamplesRoundTrip(t *testing.T) {
	var reused SampleWriter
	var reader SampleReader
	for _, open := range []bool{false, true} {
		for i, size := range sampleSizes {
			meta, s := sampleMeta(int32(i+1)), testSamples(int32(i+1), size, open)
			file := encodeSamples(t, &reused, meta, s)
			if fresh := encodeSamples(t, new(SampleWriter), meta, s); !bytes.Equal(file, fresh) {
				t.Fatalf("%d rows, open %v: a reused writer and a fresh one differ", size, open)
			}
			if err := reader.Reset(bytes.NewReader(file), int64(len(file))); err != nil {
				t.Fatalf("%d rows, open %v: %v", size, open, err)
			}
			if diff := cmp.Diff(meta, reader.Meta()); diff != "" || reader.Rows() != int64(size) || reader.HasScheduled() != open {
				t.Fatalf("%d rows, open %v: rows %d, scheduled %v, meta:\n%s", size, open, reader.Rows(), reader.HasScheduled(), diff)
			}
			for range 2 { // a pass can be repeated
				if !equalValues(s.LatencyNs, collect(t, reader.EachLatency)) || !equalValues(s.StartNs, collect(t, reader.EachStart)) ||
					!equalValues(s.ScheduledNs, collect(t, reader.EachScheduled)) {
					t.Fatalf("%d rows, open %v: other values came back", size, open)
				}
			}
		}
	}
}

func equalValues(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestExtremeValuesRoundTrip(t *testing.T) {
	values := []int64{0, math.MaxInt64, 0, 1, math.MaxInt64, math.MaxInt64 - 1, 0, 1 << 62, 42}
	s := records.Samples{ProcessNo: math.MaxInt32, StartNs: values, LatencyNs: values}
	file := encodeSamples(t, new(SampleWriter), sampleMeta(math.MaxInt32), s)
	r, err := OpenSamples(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if got := collect(t, r.EachLatency); !equalValues(values, got) {
		t.Errorf("latencies are %v, want %v", got, values)
	}
	if low, high, ok := r.LatencyRange(); low != 0 || high != math.MaxInt64 || !ok {
		t.Errorf("range is %d to %d, ok %v", low, high, ok)
	}
}

func TestBadSamplesAreRefusedBeforeAnythingIsWritten(t *testing.T) {
	for name, s := range map[string]records.Samples{
		"other process":      {ProcessNo: 2},
		"unequal columns":    {ProcessNo: 1, StartNs: []int64{1}, LatencyNs: []int64{1, 2}},
		"unequal schedule":   {ProcessNo: 1, StartNs: []int64{1}, LatencyNs: []int64{1}, ScheduledNs: []int64{}},
		"negative latency":   {ProcessNo: 1, StartNs: []int64{1, 2}, LatencyNs: []int64{1, -1}},
		"negative start":     {ProcessNo: 1, StartNs: []int64{math.MinInt64}, LatencyNs: []int64{1}},
		"negative scheduled": {ProcessNo: 1, StartNs: []int64{1}, LatencyNs: []int64{1}, ScheduledNs: []int64{-5}},
	} {
		var out bytes.Buffer
		if _, err := WriteSamples(&out, sampleMeta(1), s); err == nil || out.Len() != 0 {
			t.Errorf("%s: error %v, %d bytes written", name, err, out.Len())
		}
	}
}

func TestVisitorsErrorEndsThePass(t *testing.T) {
	file := encodeSamples(t, new(SampleWriter), sampleMeta(1), testSamples(1, 100_000, false))
	r, err := OpenSamples(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	stop, calls := errors.New("enough"), 0
	err = r.EachLatency(func([]int64) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("error %v after %d calls", err, calls)
	}
}
