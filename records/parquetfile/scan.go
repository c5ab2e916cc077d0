package parquetfile

import (
	"encoding/binary"
)

// The types of Thrift's compact protocol.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftByte
	thriftI16
	thriftI32
	thriftI64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

const (
	maxThriftDepth = 16
	// A decoder allocates a list's claimed length at once, and an element takes
	// up to some hundred bytes in memory. What this package writes has one list
	// element in a dozen bytes; a claim beyond one in eight is an attack.
	thriftBytesPerElement = 8
	thriftFreeElements    = 256
)

// scanStruct walks one compact-protocol struct without decoding it and returns
// its length in bytes. It fails where a decoder would read beyond the input,
// recurse without end or allocate far more than the input justifies.
func scanStruct(data []byte) (int, error) {
	s := thriftScanner{data: data, elements: thriftFreeElements + len(data)/thriftBytesPerElement}
	if err := s.structure(0); err != nil {
		return 0, err
	}
	return s.at, nil
}

type thriftScanner struct {
	data     []byte
	at       int
	elements int // list elements that may still be claimed
}

func (s *thriftScanner) structure(depth int) error {
	if depth > maxThriftDepth {
		return damaged("metadata is nested more than %d deep", maxThriftDepth)
	}
	for {
		header, err := s.byte()
		if err != nil {
			return err
		}
		kind := header & 0xF
		if kind == thriftStop {
			if header != thriftStop {
				return damaged("metadata has a field without a type")
			}
			return nil
		}
		if header>>4 == 0 {
			if _, err := s.uvarint(); err != nil {
				return err
			}
		}
		// In a field the value of a boolean stands in its type.
		if kind == thriftTrue || kind == thriftFalse {
			continue
		}
		if err := s.value(kind, depth); err != nil {
			return err
		}
	}
}

func (s *thriftScanner) value(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return s.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := s.uvarint()
		return err
	case thriftDouble:
		return s.skip(8)
	case thriftBinary:
		n, err := s.uvarint()
		if err != nil {
			return err
		}
		return s.skip(n)
	case thriftList, thriftSet:
		return s.list(depth)
	case thriftStruct:
		return s.structure(depth + 1)
	default:
		return damaged("metadata has a field of type %d", kind)
	}
}

func (s *thriftScanner) list(depth int) error {
	header, err := s.byte()
	if err != nil {
		return err
	}
	n := uint64(header >> 4)
	if n == 0xF {
		if n, err = s.uvarint(); err != nil {
			return err
		}
	}
	if n > uint64(s.elements) {
		return damaged("metadata claims a list of %d elements in %d bytes", n, len(s.data))
	}
	s.elements -= int(n)
	for range n {
		if err := s.value(header&0xF, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *thriftScanner) byte() (byte, error) {
	if s.at >= len(s.data) {
		return 0, damaged("metadata ends early")
	}
	b := s.data[s.at]
	s.at++
	return b, nil
}

func (s *thriftScanner) skip(n uint64) error {
	if n > uint64(len(s.data)-s.at) {
		return damaged("metadata claims a value of %d bytes, %d are left", n, len(s.data)-s.at)
	}
	s.at += int(n)
	return nil
}

func (s *thriftScanner) uvarint() (uint64, error) {
	v, n := binary.Uvarint(s.data[s.at:])
	if n <= 0 {
		return 0, damaged("metadata has a broken integer")
	}
	s.at += n
	return v, nil
}
