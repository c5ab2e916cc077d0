package parquetfile

import (
	"bytes"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestThePageIndexTellsWhatThePagesHold has the library read every page and
// holds the page index and the chunk's statistics, both our own, against it.
func TestThePageIndexTellsWhatThePagesHold(t *testing.T) {
	for _, scheduled := range []bool{false, true} {
		content := encodeSamples(t, new(SampleWriter), sampleMeta(3), testSamples(3, MaxRowsPerRowGroup+rowsPerPage+129, scheduled))
		file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(file.RowGroups()); got != 2 {
			t.Fatalf("%d row groups, expected 2", got)
		}
		for g, group := range file.RowGroups() {
			for c, chunk := range group.ColumnChunks() {
				checkPageIndex(t, chunk)
				stats := file.Metadata().RowGroups[g].Columns[c].MetaData.Statistics
				low, high, ok := chunk.(*parquet.FileColumnChunk).Bounds()
				if !ok || !bytes.Equal(low.Bytes(), stats.MinValue) || !bytes.Equal(high.Bytes(), stats.MaxValue) {
					t.Errorf("row group %d, column %d: statistics say %x to %x, the library reads %v to %v", g, c, stats.MinValue, stats.MaxValue, low, high)
				}
			}
		}
	}
}

func checkPageIndex(t *testing.T, chunk parquet.ColumnChunk) {
	t.Helper()
	index, err := chunk.ColumnIndex()
	if err != nil {
		t.Fatal(err)
	}
	offsets, err := chunk.OffsetIndex()
	if err != nil {
		t.Fatal(err)
	}
	pages := chunk.Pages()
	defer pages.Close()
	row, no := int64(0), 0
	ascending := true
	for ; ; no++ {
		page, err := pages.ReadPage()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		low, high := int64(0), int64(0)
		values := make([]parquet.Value, page.NumValues())
		if n, err := page.Values().ReadValues(values); n != len(values) {
			t.Fatalf("page %d: %d values of %d: %v", no, n, len(values), err)
		}
		for i, v := range values {
			n := asInt(v)
			if i == 0 {
				low, high = n, n
			}
			low, high = min(low, n), max(high, n)
		}
		if asInt(index.MinValue(no)) != low || asInt(index.MaxValue(no)) != high || index.NullCount(no) != 0 || index.NullPage(no) {
			t.Errorf("column %d page %d holds %d to %d, the index says %v to %v", chunk.Column(), no, low, high, index.MinValue(no), index.MaxValue(no))
		}
		if offsets.FirstRowIndex(no) != row {
			t.Errorf("column %d page %d begins at row %d, the index says %d", chunk.Column(), no, row, offsets.FirstRowIndex(no))
		}
		if no > 0 && asInt(index.MinValue(no)) < asInt(index.MinValue(no-1)) {
			ascending = false
		}
		row += page.NumRows()
		parquet.Release(page)
	}
	if index.NumPages() != no || offsets.NumPages() != no {
		t.Errorf("column %d has %d pages, the indexes say %d and %d", chunk.Column(), no, index.NumPages(), offsets.NumPages())
	}
	if index.IsAscending() && !ascending {
		t.Errorf("column %d is said to ascend and does not", chunk.Column())
	}
}

func asInt(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}
