package parquetfile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// rowsPerPage makes pages of 256 KiB of INT64 values.
const rowsPerPage = pageBytes / 8

// windowBytes holds a packed page; the encoder would keep 4 MiB of history.
const windowBytes = 256 << 10

// pageWriter writes the pages of samples files and what the footer and the page
// index say of them. It holds no more than a page at a time.
type pageWriter struct {
	dst      io.Writer
	offset   int64
	zstd     *zstd.Encoder
	raw      []byte
	packed   []byte
	header   format.PageHeader
	encoded  bytes.Buffer
	protocol thrift.CompactProtocol
	encoder  *thrift.Encoder // to encoded

	// What the end of the file says; kept from file to file with the lists in
	// their elements, or a file would leave 40 KiB of garbage.
	groups  []format.RowGroup
	columns []format.ColumnIndex // of every chunk, row group after row group
	pages   []format.OffsetIndex
}

func newPageWriter() (*pageWriter, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(windowBytes))
	if err != nil {
		return nil, err
	}
	w := &pageWriter{zstd: encoder}
	w.encoder = thrift.NewEncoder(w.protocol.NewWriter(&w.encoded))
	return w, nil
}

// begin starts a file.
func (w *pageWriter) begin(dst io.Writer) error {
	w.dst, w.offset = dst, 0
	w.groups, w.columns, w.pages = w.groups[:0], w.columns[:0], w.pages[:0]
	return w.write([]byte(magic))
}

func (w *pageWriter) write(p []byte) error {
	n, err := w.dst.Write(p)
	w.offset += int64(n)
	return err
}

// extend makes the list longer by an element that may be an old one.
func extend[T any](list []T) ([]T, *T) {
	if len(list) < cap(list) {
		list = list[:len(list)+1]
	} else {
		var zero T
		list = append(list, zero)
	}
	return list, &list[len(list)-1]
}

// beginGroup starts a row group of so many rows.
func (w *pageWriter) beginGroup(rows int) {
	var g *format.RowGroup
	w.groups, g = extend(w.groups)
	*g = format.RowGroup{Columns: g.Columns[:0], NumRows: int64(rows), FileOffset: w.offset, Ordinal: int16(len(w.groups) - 1)}
}

// sequence writes the column chunk of first, first+step, first+2*step and so on.
func (w *pageWriter) sequence(name string, kind format.Type, first, step int64) error {
	w.beginChunk(name, kind)
	for rows := int(w.group().NumRows); rows > 0; {
		n := min(rows, rowsPerPage)
		w.raw = appendSequence(w.raw[:0], n, first, step)
		if err := w.page(kind, n, first, first+int64(n-1)*step); err != nil {
			return err
		}
		first += int64(n) * step
		rows -= n
	}
	w.endChunk()
	return nil
}

// values writes the column chunk of values, none of which is negative.
func (w *pageWriter) values(name string, values []int64) error {
	w.beginChunk(name, format.Int64)
	var encoding delta.BinaryPackedEncoding
	for len(values) > 0 {
		page := values[:min(len(values), rowsPerPage)]
		values = values[len(page):]
		var err error
		if w.raw, err = encoding.EncodeInt64(w.raw[:0], page); err != nil {
			return err
		}
		low, high := bounds(page)
		if err := w.page(format.Int64, len(page), low, high); err != nil {
			return err
		}
	}
	w.endChunk()
	return nil
}

// bounds returns the smallest and the largest value.
func bounds(values []int64) (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
	low2, high2 := low, high
	for ; len(values) >= 2; values = values[2:] {
		low, low2 = min(low, values[0]), min(low2, values[1])
		high, high2 = max(high, values[0]), max(high2, values[1])
	}
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return min(low, low2), max(high, high2)
}

// appendSequence appends a DELTA_BINARY_PACKED page of n values step apart: no
// miniblock has any bits.
func appendSequence(dst []byte, n int, first, step int64) []byte {
	dst = binary.AppendUvarint(dst, deltaBlockValues)
	dst = binary.AppendUvarint(dst, deltaMiniBlocks)
	dst = binary.AppendUvarint(dst, uint64(n))
	dst = binary.AppendVarint(dst, first)
	for left := n - 1; left > 0; left -= deltaBlockValues {
		dst = binary.AppendVarint(dst, step)
		dst = append(dst, make([]byte, deltaMiniBlocks)...)
	}
	return dst
}

func (w *pageWriter) group() *format.RowGroup { return &w.groups[len(w.groups)-1] }

func (w *pageWriter) chunk() *format.ColumnMetaData {
	columns := w.group().Columns
	return &columns[len(columns)-1].MetaData
}

func (w *pageWriter) beginChunk(name string, kind format.Type) {
	g := w.group()
	var c *format.ColumnChunk
	g.Columns, c = extend(g.Columns)
	*c = format.ColumnChunk{MetaData: format.ColumnMetaData{
		Type: kind, Encoding: append(c.MetaData.Encoding[:0], format.DeltaBinaryPacked), PathInSchema: append(c.MetaData.PathInSchema[:0], name),
		Codec: format.Zstd, NumValues: g.NumRows, DataPageOffset: w.offset,
	}}
	var index *format.ColumnIndex
	w.columns, index = extend(w.columns)
	*index = format.ColumnIndex{
		NullPages: index.NullPages[:0], MinValues: index.MinValues[:0], MaxValues: index.MaxValues[:0], NullCounts: index.NullCounts[:0],
	}
	var pages *format.OffsetIndex
	w.pages, pages = extend(w.pages)
	*pages = format.OffsetIndex{PageLocations: pages.PageLocations[:0]}
}

// encode returns v in thrift, which is valid until the next call.
func (w *pageWriter) encode(v any) ([]byte, error) {
	w.encoded.Reset()
	err := w.encoder.Encode(v)
	return w.encoded.Bytes(), err
}

// page compresses and writes the page of n values that stands in raw.
func (w *pageWriter) page(kind format.Type, n int, low, high int64) error {
	w.packed = w.zstd.EncodeAll(w.raw, w.packed[:0])
	w.header = format.PageHeader{
		Type: format.DataPageV2, UncompressedPageSize: int32(len(w.raw)), CompressedPageSize: int32(len(w.packed)),
		CRC:              int32(crc32.ChecksumIEEE(w.packed)),
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: int32(n), NumRows: int32(n), Encoding: format.DeltaBinaryPacked, IsCompressed: thrift.New(true)}),
	}
	header, err := w.encode(&w.header)
	if err != nil {
		return err
	}
	at, head := w.offset, len(header)
	if err := w.write(header); err != nil {
		return err
	}
	if err := w.write(w.packed); err != nil {
		return err
	}
	c, pages := w.chunk(), &w.pages[len(w.pages)-1]
	c.TotalUncompressedSize += int64(head + len(w.raw))
	c.TotalCompressedSize += w.offset - at
	first := int64(0)
	if last := len(pages.PageLocations) - 1; last >= 0 {
		first = int64(last+1) * rowsPerPage
	}
	pages.PageLocations = append(pages.PageLocations, format.PageLocation{Offset: at, CompressedPageSize: int32(w.offset - at), FirstRowIndex: first})
	index := &w.columns[len(w.columns)-1]
	index.NullPages = append(index.NullPages, false)
	index.NullCounts = append(index.NullCounts, 0)
	index.MinValues = append(index.MinValues, plainValue(kind, low))
	index.MaxValues = append(index.MaxValues, plainValue(kind, high))
	return nil
}

func plainValue(kind format.Type, v int64) []byte {
	if kind == format.Int32 {
		return binary.LittleEndian.AppendUint32(nil, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(v))
}

// endChunk sums its pages up.
func (w *pageWriter) endChunk() {
	c, index, g := w.chunk(), &w.columns[len(w.columns)-1], w.group()
	less := func(a, b []byte) bool { return plainInt(a) < plainInt(b) }
	c.Statistics.MinValue, c.Statistics.MaxValue = index.MinValues[0], index.MaxValues[0]
	index.BoundaryOrder = format.Ascending
	for i := range index.MinValues {
		if less(index.MinValues[i], c.Statistics.MinValue) {
			c.Statistics.MinValue = index.MinValues[i]
		}
		if less(c.Statistics.MaxValue, index.MaxValues[i]) {
			c.Statistics.MaxValue = index.MaxValues[i]
		}
		if i > 0 && (less(index.MinValues[i], index.MinValues[i-1]) || less(index.MaxValues[i], index.MaxValues[i-1])) {
			index.BoundaryOrder = format.Unordered
		}
	}
	c.EncodingStats = []format.PageEncodingStats{{PageType: format.DataPageV2, Encoding: format.DeltaBinaryPacked, Count: int32(len(index.MinValues))}}
	g.TotalByteSize += c.TotalUncompressedSize
	g.TotalCompressedSize += c.TotalCompressedSize
}

func plainInt(b []byte) int64 {
	if len(b) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// end writes the page index and the footer, whose row groups it sets.
func (w *pageWriter) end(footer *format.FileMetaData) error {
	marshal := func(v any) (offset int64, length int32, err error) {
		encoded, err := w.encode(v)
		if err != nil {
			return 0, 0, err
		}
		offset = w.offset
		return offset, int32(len(encoded)), w.write(encoded)
	}
	footer.NumRows, footer.RowGroups = 0, w.groups
	at := 0
	for g := range w.groups {
		footer.NumRows += w.groups[g].NumRows
		for c := range w.groups[g].Columns {
			chunk := &w.groups[g].Columns[c]
			var err error
			if chunk.ColumnIndexOffset, chunk.ColumnIndexLength, err = marshal(&w.columns[at]); err != nil {
				return err
			}
			at++
		}
	}
	at = 0
	for g := range w.groups {
		for c := range w.groups[g].Columns {
			chunk := &w.groups[g].Columns[c]
			var err error
			if chunk.OffsetIndexOffset, chunk.OffsetIndexLength, err = marshal(&w.pages[at]); err != nil {
				return err
			}
			at++
		}
	}
	_, length, err := marshal(footer)
	if err != nil {
		return err
	}
	return w.write(append(binary.LittleEndian.AppendUint32(nil, uint32(length)), magic...))
}
