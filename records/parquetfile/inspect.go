package parquetfile

import (
	"encoding/binary"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// Bounds of a table that is not a samples file.
const (
	maxTablePageBytes = 64 << 20
	// maxTableBytes bounds what a whole table may hold once it is decoded, the
	// values of a dictionary counted as often as they are used.
	maxTableBytes = 1 << 30
	maxTableRows  = 1 << 24
)

// crcRule says whether a page without a CRC is accepted. Arrow writes none.
type crcRule bool

const (
	withCRC    crcRule = true
	withoutCRC crcRule = false
)

// inspect reads the footer of a table, walks every page and holds it against
// its header, so that a decoder which trusts headers stays inside the page and
// inside maxTableBytes.
func inspect(src io.ReaderAt, size int64, crc crcRule) (*format.FileMetaData, error) {
	meta, _, err := readFooter(src, size)
	if err != nil {
		return nil, err
	}
	if meta.NumRows > maxTableRows {
		return nil, damaged("%d rows, at most %d are read", meta.NumRows, maxTableRows)
	}
	in := inspector{src: src, budget: maxTableBytes, crc: crc}
	for g := range meta.RowGroups {
		group := &meta.RowGroups[g]
		for c := range group.Columns {
			if err := in.chunk(&group.Columns[c].MetaData, meta.Schema[1+c], group.NumRows); err != nil {
				return nil, err
			}
		}
	}
	return meta, nil
}

type inspector struct {
	src      io.ReaderAt
	inflater inflater
	buffer   []byte
	budget   int64 // decoded bytes that are still allowed
	crc      crcRule
}

func (in *inspector) spend(n int64) error {
	if in.budget -= n; in.budget < 0 {
		return damaged("holds more than %d bytes once decoded", maxTableBytes)
	}
	return nil
}

func (in *inspector) chunk(m *format.ColumnMetaData, leaf format.SchemaElement, rows int64) error {
	if m.TotalCompressedSize > maxTableBytes {
		return damaged("column %s takes %d bytes", leaf.Name, m.TotalCompressedSize)
	}
	in.buffer = slices.Grow(in.buffer[:0], int(m.TotalCompressedSize))[:m.TotalCompressedSize]
	if err := readFull(in.src, in.buffer, chunkStart(m)); err != nil {
		return err
	}
	walker := pageWalker{rest: in.buffer}
	dictionary := dictionaryShape{}
	left := rows
	for first := true; ; first = false {
		p, ok, err := walker.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if in.crc == withCRC && p.header.CRC == 0 {
			return damaged("column %s has a page without CRC", leaf.Name)
		}
		if p.header.Type == format.DictionaryPage {
			if !first {
				return damaged("column %s has a dictionary page in the middle", leaf.Name)
			}
			if dictionary, err = in.dictionary(m, p); err != nil {
				return err
			}
			continue
		}
		n, err := in.dataPage(m, leaf, p, dictionary)
		if err != nil {
			return err
		}
		if left -= int64(n); left < 0 {
			return damaged("column %s has more values than rows", leaf.Name)
		}
	}
	if left != 0 {
		return damaged("column %s has %d values fewer than rows", leaf.Name, left)
	}
	return nil
}

// dictionaryShape is what bounds the values that a dictionary stands for.
type dictionaryShape struct {
	present bool
	values  int
	longest int64
}

func (in *inspector) dictionary(m *format.ColumnMetaData, p page) (dictionaryShape, error) {
	h := p.header.DictionaryPageHeader
	if !h.Valid || h.V.Encoding != format.Plain || h.V.NumValues < 0 {
		return dictionaryShape{}, damaged("dictionary page with encoding %v and %d values", h.V.Encoding, h.V.NumValues)
	}
	data, err := in.inflater.inflate(m.Codec, p.body, int(p.header.UncompressedPageSize), maxTablePageBytes)
	if err != nil {
		return dictionaryShape{}, err
	}
	longest, err := scanPlain(m.Type, data, int(h.V.NumValues))
	if err != nil {
		return dictionaryShape{}, err
	}
	return dictionaryShape{present: true, values: int(h.V.NumValues), longest: longest}, in.spend(int64(len(data)))
}

func (in *inspector) dataPage(m *format.ColumnMetaData, leaf format.SchemaElement, p page, dictionary dictionaryShape) (values int, err error) {
	optional := leaf.RepetitionType.V == format.Optional
	var encoding format.Encoding
	var nulls int
	var data []byte
	size := int(p.header.UncompressedPageSize)
	switch {
	case p.header.Type == format.DataPageV2 && p.header.DataPageHeaderV2.Valid:
		h := p.header.DataPageHeaderV2.V
		values, nulls, encoding = int(h.NumValues), int(h.NumNulls), h.Encoding
		levels := int(h.DefinitionLevelsByteLength)
		if h.RepetitionLevelsByteLength != 0 || levels < 0 || levels > len(p.body) || levels > size || !optional && levels != 0 {
			return 0, damaged("column %s: page with %d bytes of levels", leaf.Name, levels)
		}
		if optional {
			set, err := scanRLE(p.body[:levels], 1, values, 1)
			if err != nil {
				return 0, err
			}
			if values-set != nulls {
				return 0, damaged("column %s: page with %d nulls, its levels say %d", leaf.Name, nulls, values-set)
			}
		}
		codec := m.Codec
		if h.IsCompressed.Valid && !h.IsCompressed.V {
			codec = format.Uncompressed
		}
		data, err = in.inflater.inflate(codec, p.body[levels:], size-levels, maxTablePageBytes)
	case p.header.Type == format.DataPage && p.header.DataPageHeader.Valid:
		h := p.header.DataPageHeader.V
		values, encoding = int(h.NumValues), h.Encoding
		if data, err = in.inflater.inflate(m.Codec, p.body, size, maxTablePageBytes); err == nil && optional {
			data, nulls, err = splitLevelsV1(h, data, values)
		}
	default:
		return 0, damaged("column %s: page of type %v", leaf.Name, p.header.Type)
	}
	if err != nil {
		return 0, err
	}
	if values < 0 || nulls < 0 || nulls > values {
		return 0, damaged("column %s: page of %d values and %d nulls", leaf.Name, values, nulls)
	}
	if err := in.values(m.Type, encoding, data, values-nulls, dictionary); err != nil {
		return 0, damagedColumn(leaf.Name, err)
	}
	return values, in.spend(int64(len(data)) + 8*int64(values))
}

func splitLevelsV1(h format.DataPageHeader, data []byte, values int) (rest []byte, nulls int, err error) {
	if h.DefinitionLevelEncoding != format.RLE || len(data) < 4 {
		return nil, 0, damaged("page with levels in encoding %v", h.DefinitionLevelEncoding)
	}
	length := binary.LittleEndian.Uint32(data)
	if uint64(length) > uint64(len(data)-4) {
		return nil, 0, damaged("page with %d bytes of levels", length)
	}
	set, err := scanRLE(data[4:4+length], 1, values, 1)
	return data[4+length:], values - set, err
}

// values checks that data holds n values in the given encoding.
func (in *inspector) values(kind format.Type, encoding format.Encoding, data []byte, n int, dictionary dictionaryShape) error {
	switch encoding {
	case format.Plain:
		_, err := scanPlain(kind, data, n)
		return err
	case format.RLEDictionary:
		if !dictionary.present {
			return damaged("page refers to a dictionary that is not there")
		}
		if n == 0 {
			return nil
		}
		if len(data) == 0 || data[0] > 32 {
			return damaged("page with a broken dictionary index")
		}
		if _, err := scanRLE(data[1:], uint(data[0]), n, dictionary.values-1); err != nil {
			return err
		}
		return in.spend(int64(n) * dictionary.longest)
	default:
		return damaged("page with encoding %v", encoding)
	}
}
