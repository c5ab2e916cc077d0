package parquetfile

import (
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pageWalker steps through the pages of one column chunk that is in memory.
type pageWalker struct {
	rest     []byte
	protocol thrift.CompactProtocol
}

// page is a page as it stands in the file; body is not decompressed.
type page struct {
	header format.PageHeader
	body   []byte
}

// maxPageHeaderBytes bounds a header: its statistics hold two values at most.
const maxPageHeaderBytes = 1 << 20

// next returns the next page, or ok false after the last one. The CRC is
// checked where there is one.
func (w *pageWalker) next() (p page, ok bool, err error) {
	if len(w.rest) == 0 {
		return page{}, false, nil
	}
	n, err := scanStruct(w.rest[:min(len(w.rest), maxPageHeaderBytes)])
	if err != nil {
		return page{}, false, err
	}
	if err := thrift.NewDecoder(w.protocol.NewReaderFromBytes(w.rest[:n])).Decode(&p.header); err != nil {
		return page{}, false, damaged("page header: %v", err)
	}
	compressed := p.header.CompressedPageSize
	if compressed < 0 || int(compressed) > len(w.rest)-n || p.header.UncompressedPageSize < 0 {
		return page{}, false, damaged("page claims %d bytes, %d are left", compressed, len(w.rest)-n)
	}
	p.body = w.rest[n : n+int(compressed)]
	w.rest = w.rest[n+int(compressed):]
	if p.header.CRC != 0 && uint32(p.header.CRC) != crc32.ChecksumIEEE(p.body) {
		return page{}, false, damaged("page has another CRC than its header says")
	}
	return p, true, nil
}

// inflater decompresses pages into a buffer that it keeps.
type inflater struct {
	decoder *zstd.Decoder
	buffer  []byte
}

// inflate returns exactly want bytes, valid until the next call. Nothing that
// the frame says makes it allocate more than that.
func (f *inflater) inflate(codec format.CompressionCodec, body []byte, want, limit int) ([]byte, error) {
	if want < 0 || want > limit {
		return nil, damaged("page claims %d bytes uncompressed, at most %d are read", want, limit)
	}
	if codec == format.Uncompressed {
		if len(body) != want {
			return nil, damaged("page holds %d bytes and claims %d", len(body), want)
		}
		return body, nil
	}
	if f.decoder == nil {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		f.decoder = decoder
	}
	if cap(f.buffer) < want {
		f.buffer = make([]byte, 0, max(want, pageBytes+pageBytes/8))
	}
	out, err := f.decoder.DecodeAll(body, f.buffer[:0:want])
	if err != nil {
		return nil, damaged("page does not decompress: %v", err)
	}
	if len(out) != want {
		return nil, damaged("page decompresses to %d bytes and claims %d", len(out), want)
	}
	return out, nil
}
