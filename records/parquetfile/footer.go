package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// ErrDamaged marks a file whose bytes contradict themselves or that is not of
// the kind this package writes. No value of such a file is to be used.
var ErrDamaged = errors.New("damaged or foreign Parquet file")

func damaged(text string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(text, args...))
}

// guard turns a panic of a library into ErrDamaged. It is deferred around every
// call that decodes foreign bytes.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = damaged("decoder panicked: %v", r)
	}
}

const (
	magic = "PAR1"
	// maxFooterBytes holds the footer of a merged file of thousands of
	// processes; a single process needs about 2 KiB.
	maxFooterBytes = 16 << 20
)

// readFooter reads and bounds the metadata of a file and returns it with the
// offset at which the footer begins, which is where the data must end.
func readFooter(src io.ReaderAt, size int64) (meta *format.FileMetaData, end int64, err error) {
	defer guard(&err)
	if size < int64(2*len(magic)+4) {
		return nil, 0, damaged("%d bytes are too short", size)
	}
	var head [4]byte
	var tail [8]byte
	if err := readFull(src, head[:], 0); err != nil {
		return nil, 0, err
	}
	if err := readFull(src, tail[:], size-int64(len(tail))); err != nil {
		return nil, 0, err
	}
	if string(head[:]) != magic || string(tail[4:]) != magic {
		return nil, 0, damaged("begins with %q and ends with %q, want %q", head[:], tail[4:], magic)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	end = size - int64(len(tail)) - length
	if length > maxFooterBytes || end < int64(len(magic)) {
		return nil, 0, damaged("footer of %d bytes in a file of %d, at most %d are read", length, size, maxFooterBytes)
	}
	footer := make([]byte, length)
	if err := readFull(src, footer, end); err != nil {
		return nil, 0, err
	}
	if n, err := scanStruct(footer); err != nil {
		return nil, 0, err
	} else if n != len(footer) {
		return nil, 0, damaged("%d bytes follow the metadata in the footer", len(footer)-n)
	}
	meta = new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), footer, meta); err != nil {
		return nil, 0, damaged("footer: %v", err)
	}
	if err := checkMetadata(meta, end); err != nil {
		return nil, 0, err
	}
	return meta, end, nil
}

func readFull(src io.ReaderAt, p []byte, offset int64) error {
	n, err := src.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return damaged("ends at offset %d, %d bytes were expected there", offset+int64(n), len(p)-n)
	}
	return err
}

// checkMetadata holds the metadata against the file's size and against what
// every file of this package has in common: flat schema, no encryption, no
// column in another file, no empty row group.
func checkMetadata(meta *format.FileMetaData, end int64) error {
	leaves, err := checkFlatSchema(meta)
	if err != nil {
		return err
	}
	if meta.EncryptionAlgorithm.Value != nil {
		return damaged("is encrypted")
	}
	var rows int64
	for g := range meta.RowGroups {
		group := &meta.RowGroups[g]
		if len(group.Columns) != len(leaves) {
			return damaged("row group %d has %d columns, the schema %d", g, len(group.Columns), len(leaves))
		}
		if int(group.Ordinal) != g && group.Ordinal != 0 {
			return damaged("row group %d calls itself %d", g, group.Ordinal)
		}
		if group.NumRows < 1 || group.NumRows > math.MaxInt64-rows {
			return damaged("row group %d has %d rows", g, group.NumRows)
		}
		if len(group.SortingColumns) != 0 {
			return damaged("row group %d claims to be sorted", g)
		}
		rows += group.NumRows
		for c := range group.Columns {
			if err := checkChunk(&group.Columns[c], leaves[c], group.NumRows, end); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", g, leaves[c].Name, err)
			}
		}
	}
	if rows != meta.NumRows {
		return damaged("claims %d rows, its row groups hold %d", meta.NumRows, rows)
	}
	return nil
}

// checkFlatSchema returns the columns of a schema without nesting.
func checkFlatSchema(meta *format.FileMetaData) ([]format.SchemaElement, error) {
	if len(meta.Schema) < 2 {
		return nil, damaged("schema of %d elements", len(meta.Schema))
	}
	root, leaves := meta.Schema[0], meta.Schema[1:]
	if int(root.NumChildren.V) != len(leaves) {
		return nil, damaged("schema claims %d columns and lists %d", root.NumChildren.V, len(leaves))
	}
	names := make(map[string]struct{}, len(leaves))
	for _, leaf := range leaves {
		if leaf.NumChildren.Valid && leaf.NumChildren.V != 0 || !leaf.Type.Valid {
			return nil, damaged("column %q is a group", leaf.Name)
		}
		if !leaf.RepetitionType.Valid || leaf.RepetitionType.V == format.Repeated {
			return nil, damaged("column %q is repeated", leaf.Name)
		}
		if _, twice := names[leaf.Name]; twice {
			return nil, damaged("column %q stands twice", leaf.Name)
		}
		names[leaf.Name] = struct{}{}
	}
	return leaves, nil
}

func checkChunk(chunk *format.ColumnChunk, leaf format.SchemaElement, rows, end int64) error {
	m := &chunk.MetaData
	switch {
	case chunk.FilePath != "":
		return damaged("stands in another file")
	case chunk.CryptoMetadata.Value != nil || chunk.EncryptedColumnMetadata != nil:
		return damaged("is encrypted")
	case m.Type != leaf.Type.V:
		return damaged("has type %v, the schema says %v", m.Type, leaf.Type.V)
	case len(m.PathInSchema) != 1 || m.PathInSchema[0] != leaf.Name:
		return damaged("has path %q", []string(m.PathInSchema))
	case m.Codec != format.Zstd && m.Codec != format.Uncompressed:
		return damaged("has codec %v, only ZSTD and UNCOMPRESSED are read", m.Codec)
	case m.NumValues != rows:
		return damaged("has %d values, the row group %d rows", m.NumValues, rows)
	}
	start := chunkStart(m)
	if start < int64(len(magic)) || m.DataPageOffset < start ||
		m.TotalCompressedSize < 1 || m.TotalCompressedSize > end-start || m.DataPageOffset >= start+m.TotalCompressedSize {
		return damaged("claims %d bytes at offset %d of data that ends at %d", m.TotalCompressedSize, start, end)
	}
	return nil
}

// chunkStart is where a column chunk's first page stands.
func chunkStart(m *format.ColumnMetaData) int64 {
	if m.DictionaryPageOffset != 0 {
		return m.DictionaryPageOffset
	}
	return m.DataPageOffset
}

func lookup(meta *format.FileMetaData, key string) (string, bool) {
	for _, kv := range meta.KeyValueMetadata {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return "", false
}
