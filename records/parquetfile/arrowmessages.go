package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

const (
	maxArrowMetadataBytes = 1 << 20
	// maxArrowBatchBytes bounds one batch, compressed or not.
	maxArrowBatchBytes = 1 << 30
	// maxArrowFields bounds the columns of a stream of samples.
	maxArrowFields = 64
)

// arrowMessages reads the messages of an IPC stream. Arrow's own reader
// allocates whatever a message claims, and a claim beyond the machine's memory
// ends the program; this one looks at the claims first.
type arrowMessages struct{ src io.Reader }

// Retain and Release count nothing: the garbage collector owns the messages.
func (*arrowMessages) Retain() {}

// Release does nothing.
func (*arrowMessages) Release() {}

// Message returns the next message, or io.EOF at the end of the stream.
func (a *arrowMessages) Message() (*ipc.Message, error) {
	var word [4]byte
	if _, err := io.ReadFull(a.src, word[:]); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(word[:])
	if length == 0xFFFFFFFF { // the mark that begins a message since Arrow 0.15
		if _, err := io.ReadFull(a.src, word[:]); err != nil {
			return nil, fmt.Errorf("message length: %w", noEOF(err))
		}
		length = binary.LittleEndian.Uint32(word[:])
	}
	if length == 0 {
		return nil, io.EOF
	}
	if length > maxArrowMetadataBytes {
		return nil, damaged("message with %d bytes of metadata", length)
	}
	metadata := make([]byte, length)
	if _, err := io.ReadFull(a.src, metadata); err != nil {
		return nil, fmt.Errorf("message metadata: %w", noEOF(err))
	}
	size, err := checkArrowMessage(metadata)
	if err != nil {
		return nil, err
	}
	// The body grows with what arrives, whatever the message claims.
	body, err := io.ReadAll(io.LimitReader(a.src, size))
	if err == nil && int64(len(body)) != size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("message body: %w", err)
	}
	return ipc.NewMessage(memory.NewBufferBytes(metadata), memory.NewBufferBytes(body)), nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// The places of fields in the tables of Arrow's Message.fbs and Schema.fbs.
const (
	slotMessageHeaderType = 6
	slotMessageHeader     = 8
	slotMessageBodyLength = 10
	slotSchemaFields      = 6
	slotSchemaMetadata    = 8
	slotFieldChildren     = 14
	slotFieldMetadata     = 16
	slotBatchNodes        = 6
	slotBatchBuffers      = 8

	headerSchema      = 1
	headerRecordBatch = 3
)

// checkArrowMessage returns the length of a message's body. It accepts a schema
// of flat columns and batches whose lists are as long as the bytes allow.
func checkArrowMessage(metadata []byte) (body int64, err error) {
	defer guard(&err)
	message := tableAt(metadata, flatbuffers.GetUOffsetT(metadata))
	if at := message.Offset(slotMessageBodyLength); at != 0 {
		body = message.GetInt64(message.Pos + flatbuffers.UOffsetT(at))
	}
	if body < 0 || body > maxArrowBatchBytes {
		return 0, damaged("message with a body of %d bytes", body)
	}
	var kind byte
	if at := message.Offset(slotMessageHeaderType); at != 0 {
		kind = message.GetByte(message.Pos + flatbuffers.UOffsetT(at))
	}
	at := message.Offset(slotMessageHeader)
	if at == 0 {
		return 0, damaged("message without a header")
	}
	header := tableAt(metadata, message.Indirect(message.Pos+flatbuffers.UOffsetT(at)))
	switch kind {
	case headerSchema:
		return body, checkArrowSchema(header)
	case headerRecordBatch:
		if listLength(header, slotBatchNodes) > maxArrowFields || listLength(header, slotBatchBuffers) > 3*maxArrowFields {
			return 0, damaged("batch of too many buffers")
		}
		return body, nil
	default:
		return 0, damaged("message of type %d: only a schema and record batches are read", kind)
	}
}

func checkArrowSchema(schema flatbuffers.Table) error {
	fields := listLength(schema, slotSchemaFields)
	if fields > maxArrowFields || listLength(schema, slotSchemaMetadata) > maxArrowFields {
		return damaged("schema of %d fields, at most %d are read", fields, maxArrowFields)
	}
	if fields == 0 {
		return nil
	}
	start := schema.Vector(flatbuffers.UOffsetT(schema.Offset(slotSchemaFields)))
	for i := range fields {
		field := tableAt(schema.Bytes, schema.Indirect(start+flatbuffers.UOffsetT(4*i)))
		if listLength(field, slotFieldChildren) != 0 || listLength(field, slotFieldMetadata) > maxArrowFields {
			return damaged("field %d is nested or has too much metadata", i)
		}
	}
	return nil
}

func tableAt(data []byte, position flatbuffers.UOffsetT) flatbuffers.Table {
	return flatbuffers.Table{Bytes: data, Pos: position}
}

func listLength(table flatbuffers.Table, slot flatbuffers.VOffsetT) int {
	at := table.Offset(slot)
	if at == 0 {
		return 0
	}
	return table.VectorLen(flatbuffers.UOffsetT(at))
}

// boundedAllocator refuses a single allocation beyond its limit by a panic,
// which is the only way out that Arrow leaves; guard turns it into an error.
type boundedAllocator struct {
	memory.Allocator
	limit int
}

// Allocate is memory.Allocator's.
func (a *boundedAllocator) Allocate(size int) []byte {
	a.check(size)
	return a.Allocator.Allocate(size)
}

// Reallocate is memory.Allocator's.
func (a *boundedAllocator) Reallocate(size int, b []byte) []byte {
	a.check(size)
	return a.Allocator.Reallocate(size, b)
}

func (a *boundedAllocator) check(size int) {
	if size < 0 || size > a.limit {
		panic(fmt.Sprintf("an allocation of %d bytes is refused", size))
	}
}
