package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// The first four bytes of the two layers of an encoded histogram. 0x10 says
// that counts are numbers of variable length.
const (
	cookieV2         = 0x1c849303 | 0x10
	cookieCompressed = 0x1c849304 | 0x10
)

// Histogram counts values from 0 in buckets whose width grows with the value.
type Histogram struct {
	figures  int
	halfBits int // log2 of half the number of buckets of one width
	counts   []int64
	total    int64
	max      int64
}

// New returns an empty histogram that tells values apart which differ in their
// first so many significant decimal figures, 1 to 5.
func New(figures int) (*Histogram, error) {
	if figures < 1 || figures > 5 {
		return nil, fmt.Errorf("histogram: %d significant figures, expected 1 to 5", figures)
	}
	single := uint64(2)
	for range figures {
		single *= 10
	}
	return &Histogram{figures: figures, halfBits: bits.Len64(single-1) - 1}, nil
}

// Record counts values. One below zero is an error.
func (h *Histogram) Record(values []int64) error {
	for _, v := range values {
		if v < 0 {
			return fmt.Errorf("histogram: value %d, expected 0 or more", v)
		}
		at := h.index(v)
		if at >= len(h.counts) {
			grown := make([]int64, max(at+1, min(2*len(h.counts), h.index(math.MaxInt64)+1)))
			copy(grown, h.counts)
			h.counts = grown
		}
		h.counts[at]++
		h.total++
		h.max = max(h.max, v)
	}
	return nil
}

// index is the place of a value's count. Up to 2 << halfBits each value has its
// own; from there on each doubling of the value doubles the width.
func (h *Histogram) index(v int64) int {
	full := h.halfBits + 1
	bucket := max(0, bits.Len64(uint64(v))-full)
	return bucket<<h.halfBits + int(v>>bucket)
}

// Total is the number of recorded values.
func (h *Histogram) Total() int64 { return h.total }

// Max is the largest recorded value; 0 without any.
func (h *Histogram) Max() int64 { return h.max }

// Encode returns the histogram as it stands in a log. The same values give the
// same text.
func (h *Histogram) Encode() (string, error) {
	payload := h.payload()
	var plain bytes.Buffer
	for _, field := range []any{
		int32(cookieV2), int32(len(payload)), int32(0), int32(h.figures),
		int64(1), h.highest(), float64(1),
	} {
		if err := binary.Write(&plain, binary.BigEndian, field); err != nil {
			return "", err
		}
	}
	plain.Write(payload)
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := w.Write(plain.Bytes()); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	out := binary.BigEndian.AppendUint32(nil, cookieCompressed)
	out = binary.BigEndian.AppendUint32(out, uint32(packed.Len()))
	return base64.StdEncoding.EncodeToString(append(out, packed.Bytes()...)), nil
}

// highest is a trackable value at which a reader's array holds every index: the
// largest of the widest bucket in use, and never below what a reader demands.
func (h *Histogram) highest() int64 {
	return max(h.max|(1<<(h.halfBits+1)-1), 2)
}

func (h *Histogram) payload() []byte {
	if h.total == 0 {
		return nil
	}
	var out []byte
	zeros := int64(0)
	for _, n := range h.counts[:h.index(h.max)+1] {
		if n == 0 {
			zeros++
			continue
		}
		if zeros > 0 {
			out = appendZigZag(out, -zeros)
			zeros = 0
		}
		out = appendZigZag(out, n)
	}
	return out
}

// appendZigZag writes a number in groups of 7 bits, lowest first; a ninth byte
// holds the 8 that are left.
func appendZigZag(out []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for range 8 {
		if u < 0x80 {
			return append(out, byte(u))
		}
		out = append(out, byte(u)|0x80)
		u >>= 7
	}
	return append(out, byte(u))
}
