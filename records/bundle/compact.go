package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pairbench/records/atomicfile"
	"pairbench/records/bag"
	"pairbench/records/digest"
	"pairbench/records/parquetfile"
)

// compactedFrom labels, in bag-info.txt, the identity of the bundle that a
// compacted one was made from.
const compactedFrom = "Pairbench-Compacted-From"

// Compact writes the bundle src anew as dst with the samples of all processes
// merged into as few files as possible, page by page as they are, and returns
// the new identity; the old one is noted in bag-info.txt. Every file of src is
// checked against its manifest on the way. src is not touched; dst must not
// exist, and does not when Compact fails.
func Compact(src, dst string) (digest.SHA256, error) {
	identity, err := compact(src, filepath.Clean(dst))
	if err != nil {
		return digest.SHA256{}, fmt.Errorf("compact %s: %w", src, err)
	}
	return identity, nil
}

func compact(src, dst string) (identity digest.SHA256, err error) {
	if _, err := os.Lstat(dst); err == nil {
		return digest.SHA256{}, fmt.Errorf("%s: %w", dst, fs.ErrExist)
	}
	b, err := Open(src)
	if err != nil {
		return digest.SHA256{}, err
	}
	defer b.Close()
	fsys := atomicfile.OS{}
	err = atomicfile.Dir(fsys, dst, func(dir string) (err error) {
		c := compactor{from: b, fs: fsys, dir: dir}
		identity, err = c.write()
		return err
	})
	return identity, err
}

type compactor struct {
	from    *Bundle
	fs      atomicfile.FS
	dir     string
	payload bag.Payload
	merged  int
}

func (c *compactor) write() (digest.SHA256, error) {
	if err := c.fs.Mkdir(c.path(bag.PayloadDir), 0o755); err != nil {
		return digest.SHA256{}, err
	}
	if err := c.fs.Mkdir(c.path(samplesDir), 0o755); err != nil {
		return digest.SHA256{}, err
	}
	for path := range c.from.payload {
		if !isSample(path) && path != PackageFile {
			if err := c.copy(path); err != nil {
				return digest.SHA256{}, err
			}
		}
	}
	if err := c.merge(); err != nil {
		return digest.SHA256{}, err
	}
	description, err := describe(c.dir, c.from.run, c.payload.Entries)
	if err != nil {
		return digest.SHA256{}, err
	}
	err = c.add(PackageFile, func(dst io.Writer) error {
		_, err := dst.Write(description)
		return err
	})
	if err != nil {
		return digest.SHA256{}, err
	}
	if err := c.fs.SyncDir(c.dir); err != nil {
		return digest.SHA256{}, err
	}
	info := append(bagInfo(c.from.run), bag.InfoField{Label: compactedFrom, Value: c.from.identity.String()})
	return bag.Write(c.fs, c.dir, c.payload, info)
}

func (c *compactor) path(name string) string { return filepath.Join(c.dir, filepath.FromSlash(name)) }

// add writes a payload file and takes it into the manifest.
func (c *compactor) add(name string, fill func(io.Writer) error) error {
	var hashed *digest.Writer
	err := atomicfile.Write(c.fs, c.path(name), 0o644, func(dst io.Writer) error {
		hashed = digest.NewWriter(dst)
		return fill(hashed)
	})
	if err != nil {
		return err
	}
	c.payload.Entries = append(c.payload.Entries, bag.Entry{Path: name, SHA256: hashed.Sum()})
	c.payload.Bytes += hashed.Bytes()
	return nil
}

func (c *compactor) copy(path string) error {
	src, size, file, err := c.from.openHashed(path)
	if err != nil {
		return err
	}
	if file != nil {
		defer file.Close()
	}
	return c.add(path, func(dst io.Writer) error {
		_, err := io.Copy(dst, io.NewSectionReader(src, 0, size))
		return err
	})
}

// merge copies merged files as they are and joins the single ones, closed loops
// and open loops apart, because their columns differ.
func (c *compactor) merge() error {
	for path := range c.from.payload {
		if _, single := processOf(path, ".parquet"); isSample(path) && !single {
			if err := c.copy(path); err != nil {
				return err
			}
			c.merged++
		}
	}
	todo := make([]int32, 0, len(c.from.single))
	for no := range c.from.single {
		todo = append(todo, no)
	}
	slices.Sort(todo)
	for len(todo) > 0 {
		var left []int32
		err := c.add(c.freeName(), func(dst io.Writer) (err error) {
			left, err = c.mergeInto(dst, todo)
			return err
		})
		if err != nil {
			return err
		}
		todo = left
	}
	return nil
}

func (c *compactor) freeName() string {
	for {
		c.merged++
		name := mergedFile(c.merged)
		if _, taken := c.from.payload[name]; !taken {
			return name
		}
	}
}

// mergeInto writes one merged file and returns the processes that belong into
// another one.
func (c *compactor) mergeInto(dst io.Writer, processes []int32) (left []int32, err error) {
	m := parquetfile.NewMerger(dst)
	for _, no := range processes {
		err := c.mergeOne(m, no)
		if errors.Is(err, parquetfile.ErrMergeFull) {
			left = append(left, no)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return left, m.Close()
}

func (c *compactor) mergeOne(m *parquetfile.Merger, processNo int32) error {
	path := c.from.single[processNo]
	src, size, file, err := c.from.openHashed(path)
	if err != nil {
		return err
	}
	if file != nil {
		defer file.Close()
	}
	err = m.Add(src, size)
	if errors.Is(err, parquetfile.ErrDamaged) {
		return c.from.integrity(path, KindUndecodable, err)
	}
	return err
}

// CompactedFrom returns the identity of the bundle that this one was compacted
// from; ok is false when it was not compacted.
func (b *Bundle) CompactedFrom() (identity digest.SHA256, ok bool) {
	text, err := b.dir.ReadFile(bag.InfoFile, bag.MaxTagFileBytes)
	if err != nil {
		return digest.SHA256{}, false
	}
	fields, err := bag.DecodeInfo(text)
	if err != nil {
		return digest.SHA256{}, false
	}
	for _, f := range fields {
		if strings.EqualFold(f.Label, compactedFrom) {
			identity, err = digest.Parse(f.Value)
			return identity, err == nil
		}
	}
	return digest.SHA256{}, false
}
