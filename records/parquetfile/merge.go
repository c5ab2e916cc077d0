package parquetfile

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"pairbench/records"
)

// keyProcesses holds, in a merged file, the metadata of every process in it: a
// JSON list in the order of the row groups.
const keyProcesses = "pairbench.processes"

// mergedProcess is one element of that list.
type mergedProcess struct {
	records.SampleMeta
	// RowGroups is how many row groups in a row belong to the process; 0 for a
	// process without a sample.
	RowGroups int
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
		m.spans[p.ProcessNo] = mergedSpan{p.SampleMeta, group, group + p.RowGroups}
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
