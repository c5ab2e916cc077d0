package bag

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Errors of a file that a bag must not have.
var (
	// ErrNotRegular is returned for a directory, link, device, pipe or socket
	// where a file should be.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is returned when a file is beyond the reader's bound.
	ErrTooLarge = errors.New("too large")
)

// Dir reads the files of one directory and of nothing outside it.
type Dir struct {
	root *os.Root
	path string
}

// OpenDir opens the directory at path.
func OpenDir(path string) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{root: root, path: path}, nil
}

// Close releases the directory; files that were opened stay open.
func (d *Dir) Close() error { return d.root.Close() }

// Path returns the path that OpenDir was given.
func (d *Dir) Path() string { return d.path }

// Open opens the regular file name and returns its size. No element of name
// may be a symbolic link. A missing file is an fs.ErrNotExist.
func (d *Dir) Open(name string) (*os.File, int64, error) {
	if err := CheckPath(name); err != nil {
		return nil, 0, err
	}
	if err := d.checkParents(name); err != nil {
		return nil, 0, err
	}
	if info, err := d.root.Lstat(name); err != nil {
		return nil, 0, err
	} else if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w (%s)", name, ErrNotRegular, describeType(info.Mode()))
	}
	// Without O_NONBLOCK a pipe that took the file's place would block for ever.
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w (%s)", name, ErrNotRegular, describeType(info.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func (d *Dir) checkParents(name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := d.root.Lstat(dir)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s: %w (%s)", dir, ErrNotRegular, describeType(info.Mode()))
		}
	}
	return nil
}

// ReadFile reads the regular file name whole, or returns ErrTooLarge when it
// is larger than limit.
func (d *Dir) ReadFile(name string, limit int64) ([]byte, error) {
	f, size, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > limit {
		return nil, fmt.Errorf("%s: %w: %d bytes, at most %d are read", name, ErrTooLarge, size, limit)
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("%s: %w: grew beyond %d bytes", name, ErrTooLarge, limit)
	}
	return content, nil
}

func describeType(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	default:
		return "device"
	}
}
