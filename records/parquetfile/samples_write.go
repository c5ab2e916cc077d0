package parquetfile

import (
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"pairbench/records"
	"pairbench/records/digest"
)

// MaxRowsPerRowGroup bounds a row group of every samples file.
const MaxRowsPerRowGroup = 1 << 20

const (
	pageBytes = 256 << 10
	// rowBatch is what the generic writer takes at once: larger batches gain
	// nothing, smaller ones cost.
	rowBatch = 8192
)

// The keys of a samples file's metadata.
const (
	keySchemaVersion  = "pairbench.schema_version"
	keyProcessNo      = "process_no"
	keyProcessID      = "process_id"
	keySuite          = "suite"
	keyCell           = "cell"
	keyArm            = "arm"
	keySide           = "side"
	keyRound          = "round"
	keyClockTick      = "clock_tick_ns"
	keyPercentileRule = "percentile_rule"
)

// percentileRule tells a reader of the bare file how percentiles are taken.
const percentileRule = "nearest_rank: k = max(1, ceil(p*n)), the k-th smallest of the process"

type closedRow struct {
	ProcessNo int32 `parquet:"process_no,delta"`
	Seq       int64 `parquet:"seq,delta"`
	StartNs   int64 `parquet:"start_ns,delta"`
	LatencyNs int64 `parquet:"latency_ns,delta"`
}

type openRow struct {
	ProcessNo   int32 `parquet:"process_no,delta"`
	Seq         int64 `parquet:"seq,delta"`
	StartNs     int64 `parquet:"start_ns,delta"`
	LatencyNs   int64 `parquet:"latency_ns,delta"`
	ScheduledNs int64 `parquet:"scheduled_ns,delta"`
}

// Written tells what a writer put out.
type Written struct {
	Rows   int64
	Bytes  int64
	SHA256 digest.SHA256
}

// SampleWriter writes samples files one after another and keeps its buffers
// between them. It is not safe for concurrent use. The zero value is ready.
type SampleWriter struct {
	hashed *digest.Writer
	closed *parquet.GenericWriter[closedRow]
	open   *parquet.GenericWriter[openRow]
	// Only one of the two batches is ever allocated in a study of one kind.
	closedBatch []closedRow
	openBatch   []openRow
}

// Write writes one samples file to dst and returns its rows, bytes and hash.
// It refuses columns of unequal length, a process number that differs from
// meta's, and negative values, before it writes a byte.
func (w *SampleWriter) Write(dst io.Writer, meta records.SampleMeta, s records.Samples) (Written, error) {
	if err := checkSamples(meta, s); err != nil {
		return Written{}, fmt.Errorf("write samples of process %d: %w", meta.ProcessNo, err)
	}
	if w.hashed == nil {
		w.hashed = digest.NewWriter(dst)
	} else {
		w.hashed.Reset(dst)
	}
	var err error
	if s.ScheduledNs == nil {
		err = w.writeClosed(meta, s)
	} else {
		err = w.writeOpen(meta, s)
	}
	if err != nil {
		// A writer that failed in the middle of a file is not reused.
		w.closed, w.open = nil, nil
		return Written{}, fmt.Errorf("write samples of process %d: %w", meta.ProcessNo, err)
	}
	return Written{Rows: int64(s.Len()), Bytes: w.hashed.Bytes(), SHA256: w.hashed.Sum()}, nil
}

func (w *SampleWriter) writeClosed(meta records.SampleMeta, s records.Samples) error {
	if w.closed == nil {
		w.closed = newSampleFileWriter[closedRow](w.hashed)
		w.closedBatch = make([]closedRow, rowBatch)
	} else {
		w.closed.Reset(w.hashed)
	}
	setSampleMeta(w.closed, meta)
	for from := 0; from < s.Len(); from += rowBatch {
		batch := w.closedBatch[:min(rowBatch, s.Len()-from)]
		for i := range batch {
			batch[i] = closedRow{s.ProcessNo, int64(from + i), s.StartNs[from+i], s.LatencyNs[from+i]}
		}
		if _, err := w.closed.Write(batch); err != nil {
			return err
		}
	}
	return closeForReuse(w.closed)
}

func (w *SampleWriter) writeOpen(meta records.SampleMeta, s records.Samples) error {
	if w.open == nil {
		w.open = newSampleFileWriter[openRow](w.hashed)
		w.openBatch = make([]openRow, rowBatch)
	} else {
		w.open.Reset(w.hashed)
	}
	setSampleMeta(w.open, meta)
	for from := 0; from < s.Len(); from += rowBatch {
		batch := w.openBatch[:min(rowBatch, s.Len()-from)]
		for i := range batch {
			at := from + i
			batch[i] = openRow{s.ProcessNo, int64(at), s.StartNs[at], s.LatencyNs[at], s.ScheduledNs[at]}
		}
		if _, err := w.open.Write(batch); err != nil {
			return err
		}
	}
	return closeForReuse(w.open)
}

// closeForReuse closes a writer whose Reset comes next. parquet-go v0.32 clears
// the metadata of the last file in place on Reset, and with it slices that the
// writer shares between files: every later file would have columns without a
// name. Here the last file's metadata lets go of them first.
func closeForReuse[Row any](w *parquet.GenericWriter[Row]) error {
	if err := w.Close(); err != nil {
		return err
	}
	groups := w.File().Metadata().RowGroups
	for g := range groups {
		for c := range groups[g].Columns {
			m := &groups[g].Columns[c].MetaData
			m.PathInSchema, m.Encoding = nil, nil
		}
	}
	return nil
}

// WriteSamples is SampleWriter.Write for a single file.
func WriteSamples(dst io.Writer, meta records.SampleMeta, s records.Samples) (rows int64, err error) {
	var w SampleWriter
	written, err := w.Write(dst, meta, s)
	return written.Rows, err
}

func checkSamples(meta records.SampleMeta, s records.Samples) error {
	if s.ProcessNo != meta.ProcessNo || s.ProcessNo < 1 {
		return fmt.Errorf("samples are of process %d", s.ProcessNo)
	}
	if len(s.StartNs) != len(s.LatencyNs) || s.ScheduledNs != nil && len(s.ScheduledNs) != len(s.LatencyNs) {
		return fmt.Errorf("columns of unequal length: %d start, %d latency, %d scheduled",
			len(s.StartNs), len(s.LatencyNs), len(s.ScheduledNs))
	}
	for _, column := range []struct {
		name   string
		values []int64
	}{{"start_ns", s.StartNs}, {"latency_ns", s.LatencyNs}, {"scheduled_ns", s.ScheduledNs}} {
		if i, ok := firstNegative(column.values); ok {
			return fmt.Errorf("%s[%d] is %d, negative values are refused", column.name, i, column.values[i])
		}
	}
	return nil
}

// firstNegative ORs everything first, which takes a fraction of the time of a
// comparison for each value.
func firstNegative(values []int64) (int, bool) {
	var all int64
	for _, v := range values {
		all |= v
	}
	if all >= 0 {
		return 0, false
	}
	for i, v := range values {
		if v < 0 {
			return i, true
		}
	}
	return 0, false
}

func newSampleFileWriter[Row any](dst io.Writer) *parquet.GenericWriter[Row] {
	return parquet.NewGenericWriter[Row](dst, append(writerOptions(pageBytes), unitOptions[Row]()...)...)
}

// writerOptions are those of every file that parquet-go writes here. The writer
// allocates a page for every column at once.
func writerOptions(page int) []parquet.WriterOption {
	return []parquet.WriterOption{
		parquet.CreatedBy("pairbench", strconv.Itoa(records.SchemaVersion), "parquet-go"),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.DataPageVersion(2),
		// The page index and the chunk's statistics say the same as statistics in
		// page headers would, for half of the scans.
		parquet.DataPageStatistics(false),
		parquet.PageBufferSize(page),
		parquet.MaxRowsPerRowGroup(MaxRowsPerRowGroup),
		parquet.KeyValueMetadata(keySchemaVersion, strconv.Itoa(records.SchemaVersion)),
	}
}

type keyValueSetter interface {
	SetKeyValueMetadata(key, value string)
}

func setSampleMeta(w keyValueSetter, meta records.SampleMeta) {
	w.SetKeyValueMetadata(keyProcessNo, strconv.Itoa(int(meta.ProcessNo)))
	w.SetKeyValueMetadata(keyProcessID, meta.ProcessID)
	w.SetKeyValueMetadata(keySuite, meta.Suite)
	w.SetKeyValueMetadata(keyCell, meta.CellID)
	w.SetKeyValueMetadata(keyArm, meta.Arm)
	w.SetKeyValueMetadata(keySide, string(meta.Side))
	w.SetKeyValueMetadata(keyRound, strconv.Itoa(int(meta.Round)))
	w.SetKeyValueMetadata(keyClockTick, strconv.FormatInt(meta.ClockTickNs, 10))
	w.SetKeyValueMetadata(keyPercentileRule, percentileRule)
}
