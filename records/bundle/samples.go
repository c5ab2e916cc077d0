package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"pairbench/records"
	"pairbench/records/bag"
	"pairbench/records/digest"
	"pairbench/records/parquetfile"
)

// inMemoryBytes is up to what size a samples file is read whole, so that it is
// read once for hashing and decoding; larger ones are read twice.
const inMemoryBytes = 4 << 20

// Samples reads the samples of one process of a bundle. What it says of a
// damaged file is an ErrIntegrity. The zero value is ready for ReadSamples.
type Samples struct {
	reader parquetfile.SampleReader
	bundle *Bundle
	path   string
	file   *os.File // nil when the content is in memory
}

// Meta returns what the file says of the process.
func (s *Samples) Meta() records.SampleMeta { return s.reader.Meta() }

// Rows returns the number of samples.
func (s *Samples) Rows() int64 { return s.reader.Rows() }

// HasScheduled reports whether the samples are those of an open loop.
func (s *Samples) HasScheduled() bool { return s.reader.HasScheduled() }

// LatencyRange returns bounds of the latencies; ok is false without samples.
func (s *Samples) LatencyRange() (low, high int64, ok bool) { return s.reader.LatencyRange() }

// EachLatency visits the latencies page by page, as SampleReader does.
func (s *Samples) EachLatency(visit func([]int64) error) error {
	return s.wrap(s.reader.EachLatency(visit))
}

// EachStart visits the start offsets page by page.
func (s *Samples) EachStart(visit func([]int64) error) error {
	return s.wrap(s.reader.EachStart(visit))
}

// EachScheduled visits the scheduled offsets page by page, if there are any.
func (s *Samples) EachScheduled(visit func([]int64) error) error {
	return s.wrap(s.reader.EachScheduled(visit))
}

func (s *Samples) wrap(err error) error {
	if errors.Is(err, parquetfile.ErrDamaged) {
		return s.bundle.integrity(s.path, KindUndecodable, err)
	}
	return err
}

// Close releases the file; the buffers stay for the next ReadSamples.
func (s *Samples) Close() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}

// Samples opens the samples of a process; ok is false when it has none. The
// file's hash is checked before anything of it is decoded, the process and the
// number of rows after. The caller closes the Samples.
func (b *Bundle) Samples(processNo int32) (s *Samples, ok bool, err error) {
	s = new(Samples)
	ok, err = b.ReadSamples(s, processNo)
	if err != nil || !ok {
		return nil, false, err
	}
	return s, true, nil
}

// ReadSamples is Samples into a reader that exists, whose buffers it keeps and
// whose file it closes.
func (b *Bundle) ReadSamples(s *Samples, processNo int32) (ok bool, err error) {
	if err := s.Close(); err != nil {
		return false, err
	}
	path, single := b.single[processNo]
	ref, merged := b.merged[processNo]
	switch {
	case single:
		s.bundle, s.path = b, path
		err = b.readSingle(s)
	case merged:
		s.bundle, s.path = b, ref.path
		err = b.readMerged(s, ref, processNo)
	default:
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if got := s.Meta().ProcessNo; got != processNo {
		return false, b.integrity(s.path, KindContradiction, fmt.Errorf("holds process %d", got))
	}
	return true, nil
}

func (b *Bundle) readSingle(s *Samples) error {
	src, size, file, err := b.openHashed(s.path)
	if err != nil {
		return err
	}
	s.file = file
	if err := s.reader.Reset(src, size); err != nil {
		return b.integrity(s.path, KindUndecodable, err)
	}
	return nil
}

// openHashed opens a file of the payload whose hash is right. The file is nil
// when the content was small enough to be taken into memory.
func (b *Bundle) openHashed(path string) (src io.ReaderAt, size int64, file *os.File, err error) {
	f, size, err := b.dir.Open(path)
	if err != nil {
		return nil, 0, nil, b.integrity(path, bag.KindUnreadable, err)
	}
	hashed := digest.NewReader(f)
	if size <= inMemoryBytes {
		content := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		_, err = content.ReadFrom(io.LimitReader(hashed, inMemoryBytes+1))
		src, size = bytes.NewReader(content.Bytes()), int64(content.Len())
		f.Close()
	} else {
		src, file = f, f
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, hashed, make([]byte, 256<<10))
	}
	if err != nil {
		err = b.integrity(path, bag.KindUnreadable, err)
	} else if got, want := hashed.Sum(), b.payload[path]; got != want {
		err = b.changed(path, got, want)
	}
	if err != nil && file != nil {
		file.Close()
	}
	if err != nil {
		return nil, 0, nil, err
	}
	return src, size, file, nil
}

func (b *Bundle) readMerged(s *Samples, ref mergedRef, processNo int32) error {
	if err := b.hashMerged(ref.path); err != nil {
		return err
	}
	f, _, err := b.dir.Open(ref.path)
	if err != nil {
		return b.integrity(ref.path, bag.KindUnreadable, err)
	}
	s.file = f
	if err := ref.index.Reset(&s.reader, f, processNo); err != nil {
		return b.integrity(ref.path, KindUndecodable, err)
	}
	return nil
}

// hashMerged hashes a merged file the first time one of its processes is asked
// for; the others wait for it.
func (b *Bundle) hashMerged(path string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err, done := b.hashed[path]; done {
		return err
	}
	err := b.hashFile(path)
	b.hashed[path] = err
	return err
}

func (b *Bundle) hashFile(path string) error {
	_, _, file, err := b.openHashed(path)
	if err == nil && file != nil {
		err = file.Close()
	}
	return err
}

// indexSamples finds where the samples of each process are. A merged file is
// hashed before its footer is read.
func (b *Bundle) indexSamples() error {
	b.single, b.merged = make(map[int32]string), make(map[int32]mergedRef)
	for path := range b.payload {
		if !isSample(path) {
			continue
		}
		if no, ok := processOf(path, ".parquet"); ok {
			b.single[no] = path
			continue
		}
		if !strings.HasPrefix(path, samplesDir+"/"+mergedPrefix) {
			return b.integrity(path, bag.KindExtra, fmt.Errorf("no name of a samples file"))
		}
		if err := b.indexMerged(path); err != nil {
			return err
		}
	}
	for no, ref := range b.merged {
		if single, twice := b.single[no]; twice {
			return b.integrity(ref.path, KindContradiction, fmt.Errorf("process %d is in %s too", no, single))
		}
	}
	return nil
}

func (b *Bundle) indexMerged(path string) error {
	if err := b.hashMerged(path); err != nil {
		return err
	}
	f, size, err := b.dir.Open(path)
	if err != nil {
		return b.integrity(path, bag.KindUnreadable, err)
	}
	defer f.Close()
	index, err := parquetfile.OpenMerged(f, size)
	if err != nil {
		return b.integrity(path, KindUndecodable, err)
	}
	for _, no := range index.Processes() {
		if other, twice := b.merged[no]; twice {
			return b.integrity(path, KindContradiction, fmt.Errorf("process %d is in %s too", no, other.path))
		}
		b.merged[no] = mergedRef{path, index}
	}
	return nil
}

// LoadSamples reads the samples of a process into memory whole; ok is false
// when it has none.
func (b *Bundle) LoadSamples(processNo int32) (samples records.Samples, ok bool, err error) {
	r, ok, err := b.Samples(processNo)
	if err != nil || !ok {
		return records.Samples{}, false, err
	}
	defer r.Close()
	samples = records.Samples{ProcessNo: processNo, ClockTickNs: r.Meta().ClockTickNs}
	for _, column := range []struct {
		each func(func([]int64) error) error
		to   *[]int64
	}{{r.EachStart, &samples.StartNs}, {r.EachLatency, &samples.LatencyNs}, {r.EachScheduled, &samples.ScheduledNs}} {
		err := column.each(func(values []int64) error {
			*column.to = append(*column.to, values...)
			return nil
		})
		if err != nil {
			return records.Samples{}, false, err
		}
	}
	return samples, true, nil
}
