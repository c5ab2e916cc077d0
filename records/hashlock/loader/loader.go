package loader

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bounds on what one closure may make us read or hold.
const (
	maxObjects    = 4096
	maxLookups    = 1 << 15
	maxNameBytes  = 4096
	maxTableBytes = 1 << 20
)

// Format is the kind of file that a program is.
type Format string

// The formats that Closure tells apart. FormatOther has no shared libraries
// that this package knows of.
const (
	FormatELF   Format = "elf"
	FormatMachO Format = "macho"
	FormatOther Format = "other"
)

// Object is one file that a program loads.
type Object struct {
	// Name is what asked for the object: a DT_NEEDED entry, an install name, the
	// path of an interpreter.
	Name string
	// Path is where the loader finds it, as the loader writes it: not cleaned,
	// symbolic links not followed. Empty when it was not found, or when the
	// system keeps it outside the file system.
	Path string
	// ResolvedBy is the rule that found it: PT_INTERP, DT_RPATH, DT_RUNPATH,
	// LD_LIBRARY_PATH, ld.so.cache, default directory, LC_RPATH and so on.
	ResolvedBy string
	// RequiredBy is the Path of the object that brought it in.
	RequiredBy string
	// Note says what stands in for a file that rightly is not there: the
	// system's build for libraries of the dyld shared cache, "absent" for a weak
	// library.
	Note string
	// Gap says why the object is not closed; empty when it is.
	Gap string
}

// Closure is what a program loads before its first instruction.
type Closure struct {
	Format Format
	// Static says that no loader takes part: there is no interpreter.
	Static bool
	// Objects are in loading order, the program itself left out.
	Objects []Object
}

// Program is a file that is going to be executed.
type Program struct {
	Path string
	// Env is the environment that the process gets, as NAME=value.
	Env []string
	// Dir is the working directory that the process gets; empty is ours.
	Dir string
}

// variable returns the value of a variable in the program's environment. The
// first entry counts, as for the C library.
func (p Program) variable(name string) string {
	for _, entry := range p.Env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// abs makes a path that the program would open absolute, without cleaning it.
func (p Program) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	dir := p.Dir
	if dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return path
		}
		dir = wd
	}
	return dir + "/" + path
}

// errDamaged marks a file whose headers contradict themselves.
var errDamaged = errors.New("damaged")

func damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
}

// Closure returns what p loads. The error is of reading p itself; trouble with
// what p asks for is an Object with a Gap.
func (s *System) Closure(p Program) (Closure, error) {
	f, info, err := openRegular(p.Path)
	if err != nil {
		return Closure{}, err
	}
	defer f.Close()
	var magic [4]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil && err != io.EOF {
		return Closure{}, err
	}
	switch {
	case string(magic[:]) == "\x7fELF":
		e, err := parseELF(f, info.Size())
		if err != nil {
			return Closure{Format: FormatELF}, fmt.Errorf("read %s: %w", p.Path, err)
		}
		return s.elfClosure(p, e, info), nil
	case isMachO(magic):
		m, err := parseMachO(f, info.Size(), s.CPU)
		if err != nil {
			return Closure{Format: FormatMachO}, fmt.Errorf("read %s: %w", p.Path, err)
		}
		return s.machoClosure(p, m), nil
	}
	return Closure{Format: FormatOther}, nil
}

// openRegular opens a regular file. Anything else is an error before it is
// opened: a pipe would block.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("open %s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return f, info, nil
}

// reason words an error for a Gap: the path already stands beside it.
func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "not found"
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// readBytes reads n bytes at off after checking both against the file's size.
func readBytes(r io.ReaderAt, size, off, n int64, what string) ([]byte, error) {
	if off < 0 || n < 0 || off > size || n > size-off {
		return nil, damagedf("%s at %d+%d lies outside the file of %d bytes", what, off, n, size)
	}
	if n > maxTableBytes {
		return nil, damagedf("%s has %d bytes, more than %d", what, n, maxTableBytes)
	}
	b := make([]byte, n)
	if got, err := r.ReadAt(b, off); int64(got) != n {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return b, nil
}

// cString returns the string that ends at the first NUL of b; false when there
// is none.
func cString(b []byte) (string, bool) {
	for i, c := range b {
		if c == 0 {
			return string(b[:i]), true
		}
	}
	return "", false
}
