package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"pairbench/records"
)

// A sample frame, little endian throughout:
//
//	offset  0  magic     8 bytes "PBSAMPLE"
//	        8  version   uint32, 1
//	       12  columns   uint32, 2 or 3
//	       16  count     uint64
//	       24  reserved  uint64, 0
//	       32  start_ns      int64[count]
//	           latency_ns    int64[count]
//	           scheduled_ns  int64[count], with 3 columns only
//	      end  CRC-32 (IEEE, the one of zlib and gzip) of all bytes before it, uint32
//
// Columns follow each other whole, so that a driver writes its arrays as they
// lie in memory. Nothing follows the checksum.
const (
	FrameMagic   = "PBSAMPLE"
	FrameVersion = 1

	frameHeaderBytes = 32
	frameChunkRows   = 8192
)

// ErrBadFrame is wrapped by every error of ReadFrame that is not the reader's.
var ErrBadFrame = errors.New("bad sample frame")

// FrameWriter writes sample frames through a buffer that it owns, so that
// nothing has to be allocated after the measured interval.
type FrameWriter struct {
	w   io.Writer
	buf []byte
	crc uint32
}

// NewFrameWriter returns a writer onto w with its buffer in memory.
func NewFrameWriter(w io.Writer) *FrameWriter {
	buf := make([]byte, frameChunkRows*8)
	for i := 0; i < len(buf); i += 4096 {
		buf[i] = 1
	}
	return &FrameWriter{w: w, buf: buf}
}

// Write writes one frame. The columns must have the same length; ScheduledNs
// may be nil.
func (f *FrameWriter) Write(s records.Samples) error {
	columns := [][]int64{s.StartNs, s.LatencyNs}
	if s.ScheduledNs != nil {
		columns = append(columns, s.ScheduledNs)
	}
	for _, c := range columns {
		if len(c) != s.Len() {
			return fmt.Errorf("write sample frame: a column has %d samples, expected %d", len(c), s.Len())
		}
	}
	f.crc = 0
	head := append(f.buf[:0], FrameMagic...)
	head = binary.LittleEndian.AppendUint32(head, FrameVersion)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(columns)))
	head = binary.LittleEndian.AppendUint64(head, uint64(s.Len()))
	head = binary.LittleEndian.AppendUint64(head, 0)
	if err := f.put(head); err != nil {
		return err
	}
	for _, column := range columns {
		for len(column) > 0 {
			rows := min(len(column), frameChunkRows)
			for i, v := range column[:rows] {
				binary.LittleEndian.PutUint64(f.buf[i*8:], uint64(v))
			}
			if err := f.put(f.buf[:rows*8]); err != nil {
				return err
			}
			column = column[rows:]
		}
	}
	binary.LittleEndian.PutUint32(f.buf, f.crc)
	return f.put(f.buf[:4])
}

func (f *FrameWriter) put(p []byte) error {
	f.crc = crc32.Update(f.crc, crc32.IEEETable, p)
	if _, err := f.w.Write(p); err != nil {
		return fmt.Errorf("write sample frame: %w", err)
	}
	return nil
}

// WriteFrame writes one frame onto w.
func WriteFrame(w io.Writer, s records.Samples) error { return NewFrameWriter(w).Write(s) }

// ReadFrame reads one frame of at most maxCount samples that ends the input.
// The ProcessNo of what it returns is 0: the frame does not say whose it is. It
// never allocates for more samples than have arrived. Anything but a whole,
// undamaged frame is an error that wraps ErrBadFrame; the values themselves are
// the business of Check.
func ReadFrame(r io.Reader, maxCount int64) (records.Samples, error) {
	in := frameReader{r: r, buf: make([]byte, frameChunkRows*8)}
	head := in.buf[:frameHeaderBytes]
	if err := in.take(head, "header"); err != nil {
		return records.Samples{}, err
	}
	version := binary.LittleEndian.Uint32(head[8:])
	columns := binary.LittleEndian.Uint32(head[12:])
	count := binary.LittleEndian.Uint64(head[16:])
	reserved := binary.LittleEndian.Uint64(head[24:])
	switch {
	case string(head[:8]) != FrameMagic:
		return records.Samples{}, badFrame("magic is %q, expected %q", head[:8], FrameMagic)
	case version != FrameVersion:
		return records.Samples{}, badFrame("version is %d, expected %d", version, FrameVersion)
	case columns != 2 && columns != 3:
		return records.Samples{}, badFrame("%d columns, expected 2 or 3", columns)
	case reserved != 0:
		return records.Samples{}, badFrame("reserved field is %d, expected 0", reserved)
	case maxCount < 0 || count > uint64(maxCount):
		return records.Samples{}, badFrame("%d samples, at most %d expected", count, maxCount)
	}
	var s records.Samples
	var err error
	if s.StartNs, err = in.column(int(count), "start_ns"); err != nil {
		return records.Samples{}, err
	}
	if s.LatencyNs, err = in.column(int(count), "latency_ns"); err != nil {
		return records.Samples{}, err
	}
	if columns == 3 {
		if s.ScheduledNs, err = in.column(int(count), "scheduled_ns"); err != nil {
			return records.Samples{}, err
		}
	}
	want := in.crc
	if err := in.take(in.buf[:4], "checksum"); err != nil {
		return records.Samples{}, err
	}
	if got := binary.LittleEndian.Uint32(in.buf); got != want {
		return records.Samples{}, badFrame("checksum is %08x, the content's is %08x", got, want)
	}
	switch _, err := io.ReadFull(r, in.buf[:1]); err {
	case io.EOF:
		return s, nil
	case nil:
		return records.Samples{}, badFrame("bytes after the checksum")
	default:
		return records.Samples{}, fmt.Errorf("read sample frame: %w", err)
	}
}

type frameReader struct {
	r   io.Reader
	buf []byte
	crc uint32
}

func (f *frameReader) take(p []byte, what string) error {
	_, err := io.ReadFull(f.r, p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return badFrame("%s is cut short", what)
	}
	if err != nil {
		return fmt.Errorf("read sample frame: %w", err)
	}
	f.crc = crc32.Update(f.crc, crc32.IEEETable, p)
	return nil
}

func (f *frameReader) column(count int, name string) ([]int64, error) {
	// A count is only believed as far as bytes arrive.
	const trusted = 1 << 17
	values := make([]int64, 0, min(count, trusted))
	for len(values) < count {
		rows := min(count-len(values), frameChunkRows)
		chunk := f.buf[:rows*8]
		if err := f.take(chunk, name); err != nil {
			return nil, err
		}
		if cap(values)-len(values) < rows {
			grown := make([]int64, len(values), min(count, 2*len(values)+rows))
			copy(grown, values)
			values = grown
		}
		for i := range rows {
			values = append(values, int64(binary.LittleEndian.Uint64(chunk[i*8:])))
		}
	}
	return values, nil
}

func badFrame(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrBadFrame, fmt.Sprintf(format, args...))
}
