package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TempPrefix starts the name of every temporary file of this package. A file
// of that name is the leftover of a write that never finished.
const TempPrefix = ".tmp-"

// File is a file that is being written.
type File interface {
	io.Writer
	Name() string
	Sync() error
	Close() error
}

// FS holds the operations that change a disk. Reading needs no layer.
type FS interface {
	// CreateTemp makes a new file in dir whose name starts with prefix.
	CreateTemp(dir, prefix string) (File, error)
	Rename(oldPath, newPath string) error
	// Remove removes a file or an empty directory.
	Remove(path string) error
	// Mkdir makes one directory, whose parent exists.
	Mkdir(path string, perm fs.FileMode) error
	Chmod(path string, perm fs.FileMode) error
	// SyncDir makes the entries of dir durable.
	SyncDir(dir string) error
}

// OS is the operating system's own file system.
type OS struct{}

// CreateTemp implements FS; the file is readable by its owner only.
func (OS) CreateTemp(dir, prefix string) (File, error) {
	f, err := os.CreateTemp(dir, prefix+"*")
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rename implements FS.
func (OS) Rename(oldPath, newPath string) error { return os.Rename(oldPath, newPath) }

// Remove implements FS.
func (OS) Remove(path string) error { return os.Remove(path) }

// Mkdir implements FS.
func (OS) Mkdir(path string, perm fs.FileMode) error { return os.Mkdir(path, perm) }

// Chmod implements FS.
func (OS) Chmod(path string, perm fs.FileMode) error { return os.Chmod(path, perm) }

// SyncDir implements FS.
func (OS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// IsTemp reports whether path names a leftover of an unfinished write.
func IsTemp(path string) bool { return strings.HasPrefix(filepath.Base(path), TempPrefix) }

// Write puts what fill writes under path, atomically and durably: when it
// returns nil the file survives a power loss; when it does not, path holds the
// old content or the whole new one, never a part. The error names path and
// cause and wraps the error of fill. The writer given to fill is buffered.
func Write(fsys FS, path string, perm fs.FileMode, fill func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	f, err := fsys.CreateTemp(dir, TempPrefix)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	open, temp := true, f.Name()
	defer func() {
		if err == nil {
			return
		}
		if open {
			f.Close()
		}
		// A leftover is harmless: IsTemp tells it from a file.
		_ = fsys.Remove(temp)
		err = fmt.Errorf("write %s: %w", path, err)
	}()
	if err := fsys.Chmod(temp, perm); err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(f, 64<<10)
	if err := fill(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	open = false
	if err := f.Close(); err != nil {
		return err
	}
	if err := fsys.Rename(temp, path); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

// WriteBytes is Write for content that is already in memory.
func WriteBytes(fsys FS, path string, perm fs.FileMode, content []byte) error {
	return Write(fsys, path, perm, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Dir makes the directory path with what fill puts into the directory that it is
// given: whole or not at all. That one lies beside path and gets its name last;
// what a killed Dir left of it is taken away first. path must not exist. The
// error of fill is wrapped by no path.
func Dir(fsys FS, path string, fill func(dir string) error) (err error) {
	path = filepath.Clean(path)
	parent, base := filepath.Split(path)
	temp := filepath.Join(parent, TempPrefix+base)
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	if err := fsys.Mkdir(temp, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(temp) // where it fails, the cause is that of err
		}
	}()
	if err := fill(temp); err != nil {
		return err
	}
	if err := fsys.Rename(temp, path); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}
