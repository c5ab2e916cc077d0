package driver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/records"
)

func samplesOf(n int, scheduled bool) records.Samples {
	s := records.Samples{StartNs: []int64{}, LatencyNs: []int64{}}
	for i := range n {
		s.StartNs = append(s.StartNs, int64(i)*1000)
		s.LatencyNs = append(s.LatencyNs, int64(i%7)+1)
		if scheduled {
			s.ScheduledNs = append(s.ScheduledNs, int64(i)*999)
		}
	}
	return s
}

func frameOf(t testing.TB, s records.Samples) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteFrame(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFrameRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, frameChunkRows - 1, frameChunkRows, frameChunkRows + 1, 1<<17 + 3} {
		for _, scheduled := range []bool{false, n > 0} {
			want := samplesOf(n, scheduled)
			got, err := ReadFrame(bytes.NewReader(frameOf(t, want)), int64(n))
			if err != nil {
				t.Fatalf("%d samples: %v", n, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d samples (-want +got):\n%s", n, diff)
			}
		}
	}
}

// TestFrameLayout spells the documented bytes out, as another language would.
func TestFrameLayout(t *testing.T) {
	var want []byte
	want = append(want, "PBSAMPLE"...)
	want = append(want, 1, 0, 0, 0, 3, 0, 0, 0)
	want = append(want, 1, 0, 0, 0, 0, 0, 0, 0)
	want = append(want, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, v := range []int64{5, 258, math.MaxInt64} {
		want = binary.LittleEndian.AppendUint64(want, uint64(v))
	}
	want = binary.LittleEndian.AppendUint32(want, crc32.ChecksumIEEE(want))
	got := frameOf(t, records.Samples{StartNs: []int64{5}, LatencyNs: []int64{258}, ScheduledNs: []int64{math.MaxInt64}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frame (-want +got):\n%s", diff)
	}
}

func TestFrameDamage(t *testing.T) {
	good := frameOf(t, samplesOf(3, false))
	resum := func(b []byte) []byte {
		body := b[:len(b)-4]
		return binary.LittleEndian.AppendUint32(body[:len(body):len(body)], crc32.ChecksumIEEE(body))
	}
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
		want   string
	}{
		{"empty", func(b []byte) []byte { return nil }, "header is cut short"},
		{"magic", func(b []byte) []byte { b[0] = 'X'; return b }, "magic"},
		{"version", func(b []byte) []byte { b[8] = 2; return resum(b) }, "version is 2"},
		{"columns", func(b []byte) []byte { b[12] = 4; return resum(b) }, "4 columns"},
		{"reserved", func(b []byte) []byte { b[24] = 1; return resum(b) }, "reserved"},
		{"too many", func(b []byte) []byte { b[16] = 101; return resum(b) }, "at most 100"},
		{"absurd count", func(b []byte) []byte { b[23] = 0xff; return resum(b) }, "at most 100"},
		{"count beyond content", func(b []byte) []byte { b[16] = 50; return resum(b) }, "cut short"},
		{"count below content", func(b []byte) []byte { b[16] = 2; return resum(b) }, "checksum"},
		{"value", func(b []byte) []byte { b[40] ^= 1; return b }, "checksum"},
		{"checksum", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, "checksum"},
		{"no checksum", func(b []byte) []byte { return b[:len(b)-4] }, "checksum is cut short"},
		{"trailing byte", func(b []byte) []byte { return append(b, 0) }, "bytes after"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadFrame(bytes.NewReader(c.damage(bytes.Clone(good))), 100)
			if !errors.Is(err, ErrBadFrame) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ErrBadFrame with %q", err, c.want)
			}
		})
	}
	for i := range good {
		flipped := bytes.Clone(good)
		flipped[i] ^= 0x10
		if _, err := ReadFrame(bytes.NewReader(flipped), 100); !errors.Is(err, ErrBadFrame) {
			t.Errorf("bit flipped in byte %d: got %v, want ErrBadFrame", i, err)
		}
	}
}

func TestFrameWriterRefusesUnequalColumns(t *testing.T) {
	if err := WriteFrame(&bytes.Buffer{}, records.Samples{StartNs: []int64{1}}); err == nil {
		t.Error("start without latency was written")
	}
}

func TestFrameWriterDoesNotAllocate(t *testing.T) {
	s := samplesOf(100_000, true)
	w := NewFrameWriter(discard{})
	if n := testing.AllocsPerRun(5, func() { _ = w.Write(s) }); n > 2 {
		t.Errorf("writing a frame allocates %v times, want at most the column list", n)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func FuzzReadFrame(f *testing.F) {
	f.Add(frameOf(f, samplesOf(0, false)))
	f.Add(frameOf(f, samplesOf(3, false)))
	f.Add(frameOf(f, samplesOf(3, true)))
	f.Add([]byte(FrameMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ReadFrame(bytes.NewReader(b), 1<<20)
		if err != nil {
			if !errors.Is(err, ErrBadFrame) {
				t.Fatalf("error of another class: %v", err)
			}
			return
		}
		if again := frameOf(t, s); !bytes.Equal(again, b) {
			t.Fatalf("accepted %x, writes %x", b, again)
		}
	})
}
