package parquetfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"pairbench/records"
	"pairbench/records/digest"
)

// MaxRowsPerRowGroup bounds a row group of every samples file.
const MaxRowsPerRowGroup = 1 << 20

const (
	pageBytes = 256 << 10
	// minPageBytes is for a file without rows: the library allocates a page for
	// every column at once.
	minPageBytes = 4 << 10
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
	pages  *pageWriter
	// The footers of files without a row and without sample metadata.
	closed, open *format.FileMetaData
}

// Write writes one samples file to dst and returns its rows, bytes and hash.
// It refuses columns of unequal length, a process number that differs from
// meta's, and negative values, before it writes a byte.
func (w *SampleWriter) Write(dst io.Writer, meta records.SampleMeta, s records.Samples) (Written, error) {
	if err := checkSamples(meta, s); err != nil {
		return Written{}, fmt.Errorf("write samples of process %d: %w", meta.ProcessNo, err)
	}
	if err := w.write(dst, meta, s); err != nil {
		return Written{}, fmt.Errorf("write samples of process %d: %w", meta.ProcessNo, err)
	}
	return Written{Rows: int64(s.Len()), Bytes: w.hashed.Bytes(), SHA256: w.hashed.Sum()}, nil
}

// write encodes straight from the samples' columns: the rows of a generic writer
// take twice the time.
func (w *SampleWriter) write(dst io.Writer, meta records.SampleMeta, s records.Samples) (err error) {
	footer, err := w.footer(meta, s.ScheduledNs != nil)
	if err != nil {
		return err
	}
	if w.pages == nil {
		w.hashed = digest.NewWriter(dst)
		if w.pages, err = newPageWriter(); err != nil {
			return err
		}
	} else {
		w.hashed.Reset(dst)
	}
	if err := w.pages.begin(w.hashed); err != nil {
		return err
	}
	for from := 0; from < s.Len(); from += MaxRowsPerRowGroup {
		if err := w.writeGroup(s, from, min(from+MaxRowsPerRowGroup, s.Len())); err != nil {
			return err
		}
	}
	return w.pages.end(footer)
}

func (w *SampleWriter) writeGroup(s records.Samples, from, to int) error {
	w.pages.beginGroup(to - from)
	if err := w.pages.sequence(sampleColumns[columnProcessNo], format.Int32, int64(s.ProcessNo), 0); err != nil {
		return err
	}
	if err := w.pages.sequence(sampleColumns[columnSeq], format.Int64, int64(from), 1); err != nil {
		return err
	}
	if err := w.pages.values(sampleColumns[columnStart], s.StartNs[from:to]); err != nil {
		return err
	}
	if err := w.pages.values(sampleColumns[columnLatency], s.LatencyNs[from:to]); err != nil {
		return err
	}
	if s.ScheduledNs == nil {
		return nil
	}
	return w.pages.values(sampleColumns[columnScheduled], s.ScheduledNs[from:to])
}

// footer returns the footer of a file of the process without its row groups.
func (w *SampleWriter) footer(meta records.SampleMeta, scheduled bool) (*format.FileMetaData, error) {
	kept, empty := &w.closed, emptyFooter[closedRow]
	if scheduled {
		kept, empty = &w.open, emptyFooter[openRow]
	}
	if *kept == nil {
		var err error
		if *kept, err = empty(); err != nil {
			return nil, err
		}
	}
	footer := **kept
	add := keyValues{slices.Clone(footer.KeyValueMetadata)}
	setSampleMeta(&add, meta)
	footer.KeyValueMetadata = add.list
	return &footer, nil
}

// emptyFooter has the library say what a file of these rows is: schema, column
// orders, metadata.
func emptyFooter[Row any]() (*format.FileMetaData, error) {
	var file bytes.Buffer
	w := parquet.NewGenericWriter[Row](&file, append(writerOptions(minPageBytes), unitOptions[Row]()...)...)
	if err := w.Close(); err != nil {
		return nil, err
	}
	footer, _, err := readFooter(bytes.NewReader(file.Bytes()), int64(file.Len()))
	return footer, err
}

// keyValues is a file's metadata in the making.
type keyValues struct{ list []format.KeyValue }

// SetKeyValueMetadata implements keyValueSetter.
func (k *keyValues) SetKeyValueMetadata(key, value string) {
	k.list = append(k.list, format.KeyValue{Key: key, Value: value})
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
