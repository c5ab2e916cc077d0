package parquetfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"pairbench/records"
)

// maxSamplePageBytes bounds a page of a samples file; the writer's hold 256 KiB.
const maxSamplePageBytes = 1 << 20

// The columns of a samples file, in their order.
const (
	columnProcessNo = iota
	columnSeq
	columnStart
	columnLatency
	columnScheduled
)

var sampleColumns = [...]string{"process_no", "seq", "start_ns", "latency_ns", "scheduled_ns"}

// SampleReader reads the samples of one process, column by column and page by
// page. It is not safe for concurrent use; Reset makes it ready for another
// file and keeps its buffers.
type SampleReader struct {
	src       io.ReaderAt
	meta      records.SampleMeta
	rows      int64
	scheduled bool
	groups    []sampleGroup

	inflater inflater
	chunk    []byte
	values   []int64
}

type sampleGroup struct {
	rows    int64
	columns [len(sampleColumns)]sampleChunk
}

type sampleChunk struct {
	offset, size int64
	codec        format.CompressionCodec
	// min and max are what the statistics claim; passes hold values to them.
	min, max int64
}

// OpenSamples opens the samples file of one process. It checks schema,
// metadata, and that process_no and seq are what they must be; the values of
// the other columns are checked as they are read. Every error about the file's
// content is ErrDamaged.
func OpenSamples(src io.ReaderAt, size int64) (*SampleReader, error) {
	r := new(SampleReader)
	if err := r.Reset(src, size); err != nil {
		return nil, err
	}
	return r, nil
}

// Reset is OpenSamples into a reader that exists.
func (r *SampleReader) Reset(src io.ReaderAt, size int64) error {
	file, _, err := readFooter(src, size)
	if err != nil {
		return fmt.Errorf("open samples: %w", err)
	}
	meta, err := parseSampleMeta(func(key string) (string, bool) { return lookup(file, key) })
	if err != nil {
		return fmt.Errorf("open samples: %w", err)
	}
	if err := r.reset(src, file, file.RowGroups, meta); err != nil {
		return fmt.Errorf("open samples of process %d: %w", meta.ProcessNo, err)
	}
	return nil
}

func (r *SampleReader) reset(src io.ReaderAt, file *format.FileMetaData, groups []format.RowGroup, meta records.SampleMeta) error {
	columns, err := checkSampleSchema(file)
	if err != nil {
		return err
	}
	r.src, r.meta, r.rows = src, meta, 0
	r.scheduled = columns == len(sampleColumns)
	r.groups = r.groups[:0]
	for g := range groups {
		group, err := openSampleGroup(&groups[g])
		if err != nil {
			return fmt.Errorf("row group %d: %w", g, err)
		}
		r.groups = append(r.groups, group)
		r.rows += group.rows
	}
	return r.checkKeys()
}

func checkSampleSchema(file *format.FileMetaData) (columns int, err error) {
	leaves := file.Schema[1:]
	if len(leaves) != len(sampleColumns) && len(leaves) != len(sampleColumns)-1 {
		return 0, damaged("%d columns, a samples file has %d or %d", len(leaves), len(sampleColumns)-1, len(sampleColumns))
	}
	for i, leaf := range leaves {
		want := format.Int64
		if i == columnProcessNo {
			want = format.Int32
		}
		if leaf.Name != sampleColumns[i] || leaf.Type.V != want || leaf.RepetitionType.V != format.Required {
			return 0, damaged("column %d is %s %v %v, want %s REQUIRED %v",
				i, leaf.Name, leaf.RepetitionType.V, leaf.Type.V, sampleColumns[i], want)
		}
	}
	return len(leaves), nil
}

func openSampleGroup(group *format.RowGroup) (sampleGroup, error) {
	if group.NumRows > MaxRowsPerRowGroup {
		return sampleGroup{}, damaged("%d rows, at most %d are read", group.NumRows, MaxRowsPerRowGroup)
	}
	out := sampleGroup{rows: group.NumRows}
	for i := range group.Columns {
		m := &group.Columns[i].MetaData
		// An incompressible column takes its raw size and a little.
		if m.TotalCompressedSize > 9*MaxRowsPerRowGroup {
			return sampleGroup{}, damaged("column %s takes %d bytes for %d rows", sampleColumns[i], m.TotalCompressedSize, group.NumRows)
		}
		chunk := sampleChunk{offset: chunkStart(m), size: m.TotalCompressedSize, codec: m.Codec}
		if i >= columnStart {
			if len(m.Statistics.MinValue) != 8 || len(m.Statistics.MaxValue) != 8 {
				return sampleGroup{}, damaged("column %s has no statistics", sampleColumns[i])
			}
			chunk.min = int64(binary.LittleEndian.Uint64(m.Statistics.MinValue))
			chunk.max = int64(binary.LittleEndian.Uint64(m.Statistics.MaxValue))
			if chunk.min < 0 || chunk.max < chunk.min {
				return sampleGroup{}, damaged("column %s ranges from %d to %d", sampleColumns[i], chunk.min, chunk.max)
			}
		}
		out.columns[i] = chunk
	}
	return out, nil
}

// Meta returns what the file says of itself.
func (r *SampleReader) Meta() records.SampleMeta { return r.meta }

// Rows returns the number of samples.
func (r *SampleReader) Rows() int64 { return r.rows }

// HasScheduled reports whether the file has the column of an open loop.
func (r *SampleReader) HasScheduled() bool { return r.scheduled }

// LatencyRange returns bounds of the latencies, from the file's statistics. A
// pass over the column fails when a value lies outside. ok is false for a
// process without samples.
func (r *SampleReader) LatencyRange() (low, high int64, ok bool) {
	low = math.MaxInt64
	for _, g := range r.groups {
		low, high = min(low, g.columns[columnLatency].min), max(high, g.columns[columnLatency].max)
	}
	return low, high, len(r.groups) > 0
}

// EachLatency calls visit with the latencies of one page after another, in the
// order of the file. The slice is valid until visit returns and may be changed
// by it. A pass can be repeated. When EachLatency returns an error, what visit
// saw before is not to be used.
func (r *SampleReader) EachLatency(visit func([]int64) error) error {
	return r.each(columnLatency, visit)
}

// EachStart is EachLatency for the start offsets.
func (r *SampleReader) EachStart(visit func([]int64) error) error {
	return r.each(columnStart, visit)
}

// EachScheduled is EachLatency for the scheduled offsets of an open loop. It
// visits nothing when the file has none.
func (r *SampleReader) EachScheduled(visit func([]int64) error) error {
	if !r.scheduled {
		return nil
	}
	return r.each(columnScheduled, visit)
}

func (r *SampleReader) each(column int, visit func([]int64) error) error {
	for g := range r.groups {
		err := r.eachPage(g, column, func(data []byte, rows int) error {
			chunk := &r.groups[g].columns[column]
			values, err := unpackDelta(r.values[:0], data, rows, chunk.min, chunk.max)
			if err != nil {
				return err
			}
			r.values = values
			return visit(values)
		})
		if err != nil {
			return fmt.Errorf("samples of process %d, column %s: %w", r.meta.ProcessNo, sampleColumns[column], err)
		}
	}
	return nil
}

// checkKeys holds process_no and seq against what they must be.
func (r *SampleReader) checkKeys() error {
	var seq int64
	for g := range r.groups {
		err := r.eachPage(g, columnProcessNo, func(data []byte, rows int) error {
			return scanSequence(data, rows, 32, int64(r.meta.ProcessNo), 0)
		})
		if err != nil {
			return fmt.Errorf("column process_no: %w", err)
		}
		err = r.eachPage(g, columnSeq, func(data []byte, rows int) error {
			err := scanSequence(data, rows, 64, seq, 1)
			seq += int64(rows)
			return err
		})
		if err != nil {
			return fmt.Errorf("column seq: %w", err)
		}
	}
	return nil
}

// eachPage calls visit with the decompressed content of one page after another
// and checks every header against the row group.
func (r *SampleReader) eachPage(group, column int, visit func(data []byte, rows int) error) (err error) {
	g := &r.groups[group]
	chunk := g.columns[column]
	r.chunk = slices.Grow(r.chunk[:0], int(chunk.size))[:chunk.size]
	if err := readFull(r.src, r.chunk, chunk.offset); err != nil {
		return err
	}
	walker := pageWalker{rest: r.chunk}
	left := g.rows
	for {
		p, ok, err := nextPage(&walker)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		rows, err := checkSamplePage(&p.header, left)
		if err != nil {
			return err
		}
		left -= int64(rows)
		data, err := r.inflater.inflate(chunk.codec, p.body, int(p.header.UncompressedPageSize), maxSamplePageBytes)
		if err != nil {
			return err
		}
		if err := visit(data, rows); err != nil {
			return err
		}
	}
	if left != 0 {
		return damaged("pages hold %d rows fewer than the row group", left)
	}
	return nil
}

func nextPage(w *pageWalker) (p page, ok bool, err error) {
	defer guard(&err)
	return w.next()
}

func checkSamplePage(h *format.PageHeader, left int64) (rows int, err error) {
	v2 := h.DataPageHeaderV2
	switch {
	case h.Type != format.DataPageV2 || !v2.Valid:
		return 0, damaged("page of type %v, want DATA_PAGE_V2", h.Type)
	case h.CRC == 0:
		return 0, damaged("page has no CRC")
	case v2.V.Encoding != format.DeltaBinaryPacked:
		return 0, damaged("page has encoding %v, want DELTA_BINARY_PACKED", v2.V.Encoding)
	case v2.V.NumNulls != 0 || v2.V.DefinitionLevelsByteLength != 0 || v2.V.RepetitionLevelsByteLength != 0:
		return 0, damaged("page of a required column has nulls or levels")
	case v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V:
		return 0, damaged("page says that it is not compressed")
	case v2.V.NumValues < 1 || v2.V.NumRows != v2.V.NumValues || int64(v2.V.NumValues) > left:
		return 0, damaged("page of %d values and %d rows, %d rows are left", v2.V.NumValues, v2.V.NumRows, left)
	}
	return int(v2.V.NumValues), nil
}

func parseSampleMeta(get func(key string) (string, bool)) (records.SampleMeta, error) {
	var meta records.SampleMeta
	for _, field := range []struct {
		key string
		set func(value string) error
	}{
		{keyProcessNo, setInt32(&meta.ProcessNo)},
		{keyProcessID, setString(&meta.ProcessID)},
		{keySuite, setString(&meta.Suite)},
		{keyCell, setString(&meta.CellID)},
		{keyArm, setString(&meta.Arm)},
		{keySide, setString((*string)(&meta.Side))},
		{keyRound, setInt32(&meta.Round)},
		{keyClockTick, setInt64(&meta.ClockTickNs)},
	} {
		value, ok := get(field.key)
		if !ok {
			return records.SampleMeta{}, damaged("metadata has no %s", field.key)
		}
		if err := field.set(value); err != nil {
			return records.SampleMeta{}, damaged("metadata %s is %q", field.key, value)
		}
	}
	return meta, nil
}

func setString(to *string) func(string) error {
	return func(value string) error { *to = value; return nil }
}

func setInt32(to *int32) func(string) error {
	return func(value string) error {
		n, err := strconv.ParseInt(value, 10, 32)
		*to = int32(n)
		return err
	}
}

func setInt64(to *int64) func(string) error {
	return func(value string) (err error) {
		*to, err = strconv.ParseInt(value, 10, 64)
		return err
	}
}
