package parquetfile

import (
	"encoding/binary"
	"slices"

	"github.com/parquet-go/bitpack"
)

// The block layout of DELTA_BINARY_PACKED that parquet-go writes.
const (
	deltaBlockValues = 128
	deltaMiniBlocks  = 4
	deltaMiniValues  = deltaBlockValues / deltaMiniBlocks
)

// noBits are the widths of a block whose values are all its smallest delta apart.
const noBits = "\x00\x00\x00\x00"

// scanSequence fails unless a DELTA_BINARY_PACKED page of want values holds
// first, first+step, first+2*step and so on, and is exactly the size that its
// block headers call for. A miniblock of width 0 says so without its values;
// only the last block, which the encoder pads with zeros, has to be unpacked.
func scanSequence(data []byte, want int, maxBits byte, first, step int64) error {
	s := deltaScanner{data: data}
	got, err := s.header(want)
	if err != nil {
		return err
	}
	if got != first {
		return damaged("page begins at %d, want %d", got, first)
	}
	for left := want - 1; left > 0; {
		minDelta := s.varint()
		widths := s.bytes(deltaMiniBlocks)
		if minDelta == step && string(widths) == noBits {
			left -= min(deltaBlockValues, left)
			continue
		}
		for _, bits := range widths {
			if left == 0 {
				break
			}
			if bits > maxBits {
				return damaged("delta block with values of %d bits", bits)
			}
			packed := s.bytes(deltaMiniValues * int(bits) / 8)
			if s.broken {
				break
			}
			values := min(deltaMiniValues, left)
			left -= values
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
		}
		if s.broken {
			return damaged("delta block is cut, %d values are missing", left)
		}
	}
	if len(s.data) != 0 {
		return damaged("%d bytes follow the last delta block", len(s.data))
	}
	return nil
}

// unpackDelta appends the want values, at least one, of a DELTA_BINARY_PACKED
// page to dst. It fails unless the page is exactly the size that its block
// headers call for, and when a value lies outside low to high, neither of which
// is negative.
func unpackDelta(dst []int64, data []byte, want int, low, high int64) ([]int64, error) {
	at := len(dst)
	dst = slices.Grow(dst, want)[:at+want]
	out := dst[at:]
	s := deltaScanner{data: data}
	last, err := s.header(want)
	if err != nil {
		return nil, err
	}
	out[0] = last
	// The sign bit of any of these differences marks a value out of range.
	outside := (last - low) | (high - last)
	var padded [deltaMiniValues*8 + bitpack.PaddingInt64]byte
	for done := 1; done < want; {
		minDelta := s.varint()
		block := out[done:min(done+deltaBlockValues, want)]
		left := block
		for _, bits := range s.bytes(deltaMiniBlocks) {
			if len(left) == 0 {
				break
			}
			if bits > 64 {
				return nil, damaged("delta block with values of %d bits", bits)
			}
			size := deltaMiniValues * int(bits) / 8
			packed := s.data
			s.skip(size)
			if s.broken {
				break
			}
			if len(packed) < size+bitpack.PaddingInt64 {
				packed = padded[:copy(padded[:], packed[:size])]
			}
			values := left[:min(deltaMiniValues, len(left))]
			left = left[len(values):]
			if bits == 0 {
				clear(values)
			} else {
				bitpack.Unpack(values, packed[:size], uint(bits))
			}
		}
		if s.broken {
			return nil, damaged("delta block is cut, %d values are missing", want-done)
		}
		for i, delta := range block {
			last += minDelta + delta
			block[i] = last
			outside |= (last - low) | (high - last)
		}
		done += len(block)
	}
	if len(s.data) != 0 {
		return nil, damaged("%d bytes follow the last delta block", len(s.data))
	}
	if outside < 0 {
		i := slices.IndexFunc(out, func(v int64) bool { return v < low || v > high })
		return nil, damaged("value %d, statistics say %d to %d", out[i], low, high)
	}
	return dst, nil
}

type deltaScanner struct {
	data   []byte
	broken bool
}

// header reads what stands before the first block and returns the first value.
func (s *deltaScanner) header(want int) (first int64, err error) {
	var header [3]uint64
	for i := range header {
		header[i] = s.uvarint()
	}
	first = s.varint()
	if s.broken || header != [3]uint64{deltaBlockValues, deltaMiniBlocks, uint64(want)} {
		return 0, damaged("delta header %v, want %d values in blocks of %d", header, want, deltaBlockValues)
	}
	return first, nil
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
	b := s.data
	s.skip(n)
	if s.broken {
		return nil
	}
	return b[:n]
}

func (s *deltaScanner) skip(n int) {
	if n > len(s.data) {
		s.broken, s.data = true, nil
		return
	}
	s.data = s.data[n:]
}
