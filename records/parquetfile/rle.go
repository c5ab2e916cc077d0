package parquetfile

import (
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/format"
)

func damagedColumn(name string, err error) error { return fmt.Errorf("column %s: %w", name, err) }

// scanPlain checks that data holds exactly n PLAIN values and returns the
// length of the longest byte array among them.
func scanPlain(kind format.Type, data []byte, n int) (longest int64, err error) {
	width := 0
	switch kind {
	case format.Boolean:
		if len(data) != (n+7)/8 {
			return 0, damaged("page of %d bytes for %d booleans", len(data), n)
		}
		return 0, nil
	case format.Int32, format.Float:
		width = 4
	case format.Int64, format.Double:
		width = 8
	case format.ByteArray:
		return scanByteArrays(data, n)
	default:
		return 0, damaged("column of type %v", kind)
	}
	if len(data) != n*width {
		return 0, damaged("page of %d bytes for %d values of %d", len(data), n, width)
	}
	return 0, nil
}

func scanByteArrays(data []byte, n int) (longest int64, err error) {
	for i := range n {
		if len(data) < 4 {
			return 0, damaged("page ends before byte array %d of %d", i, n)
		}
		length := int64(binary.LittleEndian.Uint32(data))
		if length > int64(len(data)-4) {
			return 0, damaged("byte array of %d bytes in a page with %d left", length, len(data)-4)
		}
		longest = max(longest, length)
		data = data[4+length:]
	}
	if len(data) != 0 {
		return 0, damaged("%d bytes follow the last byte array", len(data))
	}
	return longest, nil
}

// scanRLE walks an RLE and bit-packed hybrid of n values of the given width. It
// returns how many of them equal most and fails when one is above it.
func scanRLE(data []byte, width uint, n, most int) (equal int, err error) {
	for left := n; left > 0; {
		header, size := binary.Uvarint(data)
		if size <= 0 {
			return 0, damaged("run header is broken, %d values are missing", left)
		}
		data = data[size:]
		if header&1 == 0 {
			run := header >> 1
			bytes := int(width+7) / 8
			if run == 0 || run > uint64(left) || bytes > len(data) {
				return 0, damaged("run of %d values, %d are left", run, left)
			}
			value := littleEndian(data[:bytes])
			if value > uint64(max(most, 0)) || most < 0 {
				return 0, damaged("index %d, the largest is %d", value, most)
			}
			if value == uint64(most) {
				equal += int(run)
			}
			data, left = data[bytes:], left-int(run)
			continue
		}
		groups := header >> 1
		// Only the last group may reach beyond the values.
		if groups == 0 || groups > uint64(left+7)/8 || groups*uint64(width) > uint64(len(data)) {
			return 0, damaged("%d packed groups, %d values are left", groups, left)
		}
		count := min(int(groups)*8, left)
		packed := data[:groups*uint64(width)]
		for i := range count {
			value := unpackBits(packed, uint(i)*width, width)
			if value > uint64(max(most, 0)) || most < 0 {
				return 0, damaged("index %d, the largest is %d", value, most)
			}
			if value == uint64(most) {
				equal++
			}
		}
		data, left = data[len(packed):], left-count
	}
	return equal, nil
}

func littleEndian(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

func unpackBits(data []byte, offset, width uint) (v uint64) {
	for i := range width {
		bit := offset + i
		v |= uint64(data[bit/8]>>(bit%8)&1) << i
	}
	return v
}
