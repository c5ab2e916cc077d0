package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// decoded is an encoded histogram, read by code that shares nothing with what
// wrote it.
type decoded struct {
	Figures int32
	Lowest  int64
	Ratio   float64
	Counts  map[int]int64 // by index
}

func decode(t *testing.T, text string) (d decoded, highest int64) {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	if cookie, size := binary.BigEndian.Uint32(packed), binary.BigEndian.Uint32(packed[4:]); cookie != 0x1c849314 || int(size) != len(packed)-8 {
		t.Fatalf("outer head is %#x with %d bytes of %d", cookie, size, len(packed)-8)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed[8:]))
	if err != nil {
		t.Fatal(err)
	}
	// The reference does not end its stream; what it holds is whole.
	plain, err := io.ReadAll(z)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	var head struct {
		Cookie, Length, Offset, Figures int32
		Lowest, Highest                 int64
		Ratio                           float64
	}
	if err := binary.Read(bytes.NewReader(plain), binary.BigEndian, &head); err != nil {
		t.Fatal(err)
	}
	payload := plain[40:]
	if head.Cookie != 0x1c849313 || int(head.Length) != len(payload) || head.Offset != 0 {
		t.Fatalf("inner head is %+v with %d bytes", head, len(payload))
	}
	d = decoded{Figures: head.Figures, Lowest: head.Lowest, Ratio: head.Ratio, Counts: map[int]int64{}}
	for at := 0; len(payload) > 0; {
		var u uint64
		var n int
		for n = 0; ; n++ {
			b := payload[n]
			if n == 8 {
				u |= uint64(b) << 56
				break
			}
			u |= uint64(b&0x7f) << (7 * n)
			if b < 0x80 {
				break
			}
		}
		payload = payload[n+1:]
		if v := int64(u>>1) ^ -int64(u&1); v < 0 {
			at -= int(v)
		} else {
			if v != 0 {
				d.Counts[at] = v
			}
			at++
		}
	}
	return d, head.Highest
}

// upper is the largest value that is counted at an index.
func upper(d decoded, index int) int64 {
	half := map[int32]int{1: 4, 2: 7, 3: 10, 4: 14, 5: 17}[d.Figures]
	bucket := index>>half - 1
	sub := int64(index & (1<<half - 1))
	if bucket < 0 {
		return sub
	}
	return (sub+1<<half+1)<<bucket - 1
}

// TestEqualsReference compares with histograms of the same values that another
// implementation encoded.
func TestEqualsReference(t *testing.T) {
	var references []struct {
		Case    string `json:"case"`
		Figures int    `json:"significant_figures"`
		Total   int64  `json:"total"`
		V2      string `json:"v2_deflate_base64"`
	}
	load(t, "testdata/hdr_encoded.json", &references)
	var cases []struct {
		Case   string  `json:"case"`
		Values []int64 `json:"values"`
	}
	load(t, "../stat/testdata/percentiles.json", &cases)
	values := map[string][]int64{}
	for _, c := range cases {
		values[c.Case] = c.Values
	}
	for _, r := range references {
		h, err := New(r.Figures)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Record(values[r.Case]); err != nil {
			t.Fatal(err)
		}
		text, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		want, _ := decode(t, r.V2)
		got, highest := decode(t, text)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s with %d figures (-reference +ours):\n%s", r.Case, r.Figures, diff)
		}
		if h.Total() != r.Total || highest < h.Max() {
			t.Errorf("%s: %d values, want %d; highest %d, largest value %d", r.Case, h.Total(), r.Total, highest, h.Max())
		}
	}
}

func load(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func TestEveryValueIsCountedWhereItBelongs(t *testing.T) {
	for figures := 1; figures <= 5; figures++ {
		for _, v := range []int64{0, 1, 2, 31, 32, 33, 2047, 2048, 2049, 1<<20 - 1, 1 << 20, 1<<40 + 12345, math.MaxInt64} {
			h, err := New(figures)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Record([]int64{v}); err != nil {
				t.Fatal(err)
			}
			text, err := h.Encode()
			if err != nil {
				t.Fatal(err)
			}
			d, highest := decode(t, text)
			if len(d.Counts) != 1 || highest < v {
				t.Fatalf("%d: counts %v, highest %d", v, d.Counts, highest)
			}
			for index, n := range d.Counts {
				up := uint64(upper(d, index))
				width := up - uint64(v)
				if n != 1 || up < uint64(v) || width*uint64(math.Pow10(figures)) > uint64(v) && width > 0 && v < 1<<40 {
					t.Errorf("%d with %d figures is counted %d times as %d", v, figures, n, up)
				}
			}
		}
	}
}

func TestWhatAHistogramRefuses(t *testing.T) {
	for _, figures := range []int{-1, 0, 6} {
		if _, err := New(figures); err == nil {
			t.Errorf("%d figures are taken, want 1 to 5", figures)
		}
	}
	h, err := New(3)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Record([]int64{1, -1}); err == nil {
		t.Error("a value below zero is taken")
	}
	empty, err := New(3)
	if err != nil {
		t.Fatal(err)
	}
	text, err := empty.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if d, _ := decode(t, text); len(d.Counts) != 0 {
		t.Errorf("an empty histogram has counts %v", d.Counts)
	}
}

func TestLog(t *testing.T) {
	var out strings.Builder
	base := time.Unix(1_700_000_000, 999_999_999)
	log, err := NewLog(&out, base)
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(3)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Record([]int64{10, 1_234_567_891}); err != nil {
		t.Fatal(err)
	}
	if err := log.Write("suite/a b,c\n/1", base.Add(1500*time.Millisecond), 12345678*time.Microsecond, h); err != nil {
		t.Fatal(err)
	}
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `#[Histogram log format version 1.3]
#[BaseTime: 1700000000.999 (seconds since epoch)]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
Tag=suite/a_b_c_/1,1.500,12.345,1234.567,` + text + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
