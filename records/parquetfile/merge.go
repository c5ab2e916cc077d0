package parquetfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"pairbench/records"
)

// keyProcesses holds, in a merged file, the metadata of every process in it: a
// JSON list in the order of the row groups.
const keyProcesses = "pairbench.processes"

// mergedProcess is one element of that list.
type mergedProcess struct {
	ProcessNo   int32        `json:"process_no"`
	ProcessID   string       `json:"process_id"`
	Suite       string       `json:"suite"`
	CellID      string       `json:"cell"`
	Arm         string       `json:"arm"`
	Side        records.Side `json:"side"`
	Round       int32        `json:"round"`
	ClockTickNs int64        `json:"clock_tick_ns"`
	// RowGroups is how many row groups in a row belong to the process; 0 for a
	// process without a sample.
	RowGroups int `json:"row_groups"`
}

func (p mergedProcess) meta() records.SampleMeta {
	return records.SampleMeta{
		ProcessNo: p.ProcessNo, ProcessID: p.ProcessID, Suite: p.Suite, CellID: p.CellID,
		Arm: p.Arm, Side: p.Side, Round: p.Round, ClockTickNs: p.ClockTickNs,
	}
}

// MaxMergedRowGroups bounds a merged file, and with it its footer.
const MaxMergedRowGroups = 4096

// Merger joins the samples files of many processes into one by copying their
// pages as they are. The zero value is not ready; use NewMerger.
type Merger struct {
	dst       io.Writer
	writer    rowGroupWriter
	columns   int
	reader    SampleReader
	processes []mergedProcess
	groups    int
}

// rowGroupWriter is the part of a generic writer that does not depend on its
// rows.
type rowGroupWriter interface {
	keyValueSetter
	WriteRowGroup(parquet.RowGroup) (int64, error)
	Close() error
}

// NewMerger returns a Merger that writes to dst.
func NewMerger(dst io.Writer) *Merger {
	return &Merger{dst: &copier{dst, make([]byte, 512<<10)}}
}

// copier copies in steps that are large beside the cost of a system call.
type copier struct {
	io.Writer
	buffer []byte
}

// ReadFrom implements io.ReaderFrom.
func (c *copier) ReadFrom(src io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{c.Writer}, src, c.buffer)
}

// ErrMergeFull is returned by Add when the file would have too many row groups,
// or when the samples have other columns than those before. What was added
// stays; the process belongs into the next file.
var ErrMergeFull = errors.New("belongs into another merged file")

// Add copies the samples file of one process, which is opened and checked
// first. src is not used after Add returns.
func (m *Merger) Add(src io.ReaderAt, size int64) (err error) {
	defer guard(&err)
	if err := m.reader.Reset(src, size); err != nil {
		return err
	}
	meta, groups, columns := m.reader.meta, len(m.reader.groups), len(sampleColumns)-1
	if m.reader.scheduled {
		columns++
	}
	switch {
	case m.writer == nil:
		m.columns = columns
		if m.reader.scheduled {
			m.writer = newSampleFileWriter[openRow](m.dst)
		} else {
			m.writer = newSampleFileWriter[closedRow](m.dst)
		}
	case columns != m.columns || m.groups+groups > MaxMergedRowGroups:
		return fmt.Errorf("merge process %d: %w", meta.ProcessNo, ErrMergeFull)
	}
	file, err := parquet.OpenFile(src, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return damaged("merge process %d: %v", meta.ProcessNo, err)
	}
	for _, group := range file.RowGroups() {
		if _, err := m.writer.WriteRowGroup(group); err != nil {
			return fmt.Errorf("merge process %d: %w", meta.ProcessNo, err)
		}
	}
	m.groups += groups
	m.processes = append(m.processes, mergedProcess{
		meta.ProcessNo, meta.ProcessID, meta.Suite, meta.CellID, meta.Arm, meta.Side, meta.Round, meta.ClockTickNs, groups,
	})
	return nil
}

// Close writes the footer. The destination stays open.
func (m *Merger) Close() error {
	if m.writer == nil {
		return errors.New("merge: no samples file was added")
	}
	list, err := json.Marshal(m.processes)
	if err != nil {
		return err
	}
	m.writer.SetKeyValueMetadata(keyProcesses, string(list))
	m.writer.SetKeyValueMetadata(keyPercentileRule, percentileRule)
	if err := m.writer.Close(); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	return nil
}

// MergedIndex finds processes in a merged file. It is safe for concurrent use.
type MergedIndex struct {
	file  *format.FileMetaData
	spans map[int32]mergedSpan
}

type mergedSpan struct {
	meta        records.SampleMeta
	first, last int // row groups [first, last)
}

// OpenMerged reads the footer of a merged file.
func OpenMerged(src io.ReaderAt, size int64) (*MergedIndex, error) {
	file, _, err := readFooter(src, size)
	if err != nil {
		return nil, fmt.Errorf("open merged samples: %w", err)
	}
	m := &MergedIndex{file: file, spans: make(map[int32]mergedSpan)}
	if err := m.load(); err != nil {
		return nil, fmt.Errorf("open merged samples: %w", err)
	}
	return m, nil
}

func (m *MergedIndex) load() error {
	if _, err := checkSampleSchema(m.file); err != nil {
		return err
	}
	text, ok := lookup(m.file, keyProcesses)
	if !ok {
		return damaged("metadata has no %s", keyProcesses)
	}
	var list []mergedProcess
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return damaged("metadata %s: %v", keyProcesses, err)
	}
	group := 0
	for _, p := range list {
		if _, twice := m.spans[p.ProcessNo]; twice || p.ProcessNo < 1 {
			return damaged("process %d stands twice", p.ProcessNo)
		}
		if p.RowGroups < 0 || p.RowGroups > len(m.file.RowGroups)-group {
			return damaged("process %d claims %d row groups, %d are left", p.ProcessNo, p.RowGroups, len(m.file.RowGroups)-group)
		}
		m.spans[p.ProcessNo] = mergedSpan{p.meta(), group, group + p.RowGroups}
		group += p.RowGroups
	}
	if group != len(m.file.RowGroups) {
		return damaged("%d row groups belong to no process", len(m.file.RowGroups)-group)
	}
	return nil
}

// Processes lists the processes in the file, in the order of their numbers.
func (m *MergedIndex) Processes() []int32 { return slices.Sorted(maps.Keys(m.spans)) }

// Reset makes r read the samples of one process of the file that src holds.
func (m *MergedIndex) Reset(r *SampleReader, src io.ReaderAt, processNo int32) error {
	span, ok := m.spans[processNo]
	if !ok {
		return fmt.Errorf("open samples of process %d: not in this file", processNo)
	}
	if err := r.reset(src, m.file, m.file.RowGroups[span.first:span.last], span.meta); err != nil {
		return fmt.Errorf("open samples of process %d: %w", processNo, err)
	}
	return nil
}
