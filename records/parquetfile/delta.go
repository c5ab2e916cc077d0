package parquetfile

import (
	"encoding/binary"
)

// The block layout of DELTA_BINARY_PACKED that parquet-go writes.
const (
	deltaBlockValues = 128
	deltaMiniBlocks  = 4
	deltaMiniValues  = deltaBlockValues / deltaMiniBlocks
)

// scanDelta walks the blocks of a DELTA_BINARY_PACKED page of want values
// without unpacking one. It fails unless the page is exactly the size that its
// own block headers call for, so that a decoder which trusts them stays inside.
func scanDelta(data []byte, want int, maxBits byte) error {
	_, err := walkDelta(data, want, maxBits, nil)
	return err
}

// scanSequence is scanDelta for a page that must hold first, first+step,
// first+2*step and so on. A miniblock of width 0 says so without its values;
// only the last block, which the encoder pads with zeros, has to be unpacked.
func scanSequence(data []byte, want int, maxBits byte, first, step int64) error {
	got, err := walkDelta(data, want, maxBits, func(minDelta int64, packed []byte, bits byte, values int) error {
		if bits == 0 {
			values = 1
		}
		for i := range values {
			delta := minDelta + int64(unpackBits(packed, uint(i)*uint(bits), uint(bits)))
			if maxBits == 32 {
				delta = int64(int32(delta))
			}
			if delta != step {
				return damaged("step of %d, want %d", delta, step)
			}
		}
		return nil
	})
	if err == nil && got != first {
		return damaged("page begins at %d, want %d", got, first)
	}
	return err
}

// walkDelta calls visit, unless it is nil, with every miniblock that holds
// values, and returns the first value of the page.
func walkDelta(data []byte, want int, maxBits byte, visit func(minDelta int64, packed []byte, bits byte, values int) error) (first int64, err error) {
	s := deltaScanner{data: data}
	var header [3]uint64
	for i := range header {
		header[i] = s.uvarint()
	}
	first = s.varint()
	if s.broken || header != [3]uint64{deltaBlockValues, deltaMiniBlocks, uint64(want)} {
		return 0, damaged("delta header %v, want %d values in blocks of %d", header, want, deltaBlockValues)
	}
	for left := want - 1; left > 0; {
		minDelta := s.varint()
		widths := s.bytes(deltaMiniBlocks)
		for _, bits := range widths {
			if left == 0 {
				break
			}
			if bits > maxBits {
				return 0, damaged("delta block with values of %d bits", bits)
			}
			packed := s.bytes(deltaMiniValues * int(bits) / 8)
			values := min(deltaMiniValues, left)
			left -= values
			if visit != nil && !s.broken {
				if err := visit(minDelta, packed, bits, values); err != nil {
					return 0, err
				}
			}
		}
		if s.broken {
			return 0, damaged("delta block is cut, %d values are missing", left)
		}
	}
	if len(s.data) != 0 {
		return 0, damaged("%d bytes follow the last delta block", len(s.data))
	}
	return first, nil
}

type deltaScanner struct {
	data   []byte
	broken bool
}

func (s *deltaScanner) uvarint() uint64 {
	v, n := binary.Uvarint(s.data)
	s.advance(n)
	return v
}

func (s *deltaScanner) varint() int64 {
	v, n := binary.Varint(s.data)
	s.advance(n)
	return v
}

func (s *deltaScanner) advance(n int) {
	if n <= 0 {
		s.broken, s.data = true, nil
		return
	}
	s.data = s.data[n:]
}

func (s *deltaScanner) bytes(n int) []byte {
	if n > len(s.data) {
		s.broken, s.data = true, nil
		return nil
	}
	b := s.data[:n]
	s.data = s.data[n:]
	return b
}
