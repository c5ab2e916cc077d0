package hashlock

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"pairbench/records"
	"pairbench/records/digest"
	"pairbench/records/hashlock/loader"
)

// The kinds of rows.
const (
	KindBinary       = "binary"
	KindLibrary      = "library"
	KindScript       = "script"
	KindPlan         = "plan"
	KindSourceTree   = "source_tree"
	KindBuildSetting = "build_setting"
	KindModule       = "module"
	KindService      = "service"
)

// resolvedByMappings marks rows that were found in a running process.
const resolvedByMappings = "mappings"

// Root is one thing to lock with all that follows from it.
type Root struct {
	// Kind is one of the kinds; KindLibrary and KindModule are found, not given.
	// A binary, script or service is followed to its interpreter and libraries.
	Kind string
	// Name is what the plan calls it; empty takes Path.
	Name string
	// Path is the file, or the directory of a source tree. Empty for a build
	// setting.
	Path string
	// Side is the arm that uses it; empty means both.
	Side records.Side
	// Value is a build setting's value.
	Value string
	// Env is the environment of the process that will run it, as NAME=value, and
	// Dir its working directory: both decide which libraries are loaded.
	Env []string
	Dir string
	// Exclude are files and directories of a source tree that do not count, such
	// as the output directory of the collection itself.
	Exclude []string
}

// Lock is the locked state. Its methods may be called from several goroutines.
type Lock struct {
	mu     sync.Mutex
	roots  []Root
	taken  time.Time
	rows   []*row
	gaps   []string // of the lock as a whole
	rehash bool
}

// row is an input with what the lock must remember of it.
type row struct {
	records.Input
	file fs.FileInfo // at the time of the first hash; nil when there is no file
}

// Take resolves and hashes everything the roots lead to. What cannot be read or
// found is a row with a gap, never an error: the error is that the context
// ended.
func Take(ctx context.Context, roots []Root) (*Lock, error) {
	l := &Lock{roots: slices.Clone(roots), taken: time.Now()}
	t := &taking{system: loader.Host(ctx), hashed: map[string]*hashedFile{}, byKey: map[rowKey]*row{}}
	t.gaps = append(t.gaps, t.system.Gaps...)
	for _, root := range roots {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("take hash lock: %w", err)
		}
		t.root(ctx, root)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("take hash lock: %w", err)
	}
	l.rows, l.gaps = t.rows, t.gaps
	return l, nil
}

// Inputs returns the rows in the order in which they were found. The slice is
// the caller's.
func (l *Lock) Inputs() []records.Input {
	l.mu.Lock()
	defer l.mu.Unlock()
	inputs := make([]records.Input, len(l.rows))
	for i, r := range l.rows {
		inputs[i] = r.Input
	}
	return inputs
}

// Gaps says why the lock is not complete, one line each; empty means complete.
func (l *Lock) Gaps() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	gaps := slices.Clone(l.gaps)
	for _, r := range l.rows {
		if r.Gap != nil {
			gaps = append(gaps, describe(r.Input)+": "+*r.Gap)
		}
	}
	if !l.rehash {
		gaps = append(gaps, "inputs were not hashed again after the last process")
	}
	return gaps
}

// State is "complete" or "incomplete", as run.json has it.
func (l *Lock) State() string {
	if len(l.Gaps()) == 0 {
		return "complete"
	}
	return "incomplete"
}

// describe names a row in messages.
func describe(in records.Input) string {
	s := in.Kind + " " + in.Name
	if in.Path != nil && *in.Path != in.Name {
		s += " (" + *in.Path + ")"
	}
	if in.Side != nil {
		s += ", arm " + *in.Side
	}
	return s
}

// rowKey says which rows are one: a file used by both arms is one row.
type rowKey struct{ kind, name, path, requiredBy string }

// taking is the work of one Take.
type taking struct {
	system *loader.System
	rows   []*row
	byKey  map[rowKey]*row
	hashed map[string]*hashedFile
	gaps   []string
}

// hashedFile is a file hashed once, whatever number of rows it has.
type hashedFile struct {
	sum  string
	size int64
	info fs.FileInfo
	err  error
}

// add takes in a row, or widens the row that is already there to both arms.
func (t *taking) add(in records.Input, side records.Side) *row {
	key := rowKey{kind: in.Kind, name: in.Name}
	if in.Path != nil {
		key.path = *in.Path
	}
	switch in.Kind {
	case KindBuildSetting, KindModule:
		if in.RequiredBy != nil {
			key.requiredBy = *in.RequiredBy
		}
	case KindLibrary:
		if in.Path != nil {
			key.name = "" // one file under two names is one row
		}
	}
	if known := t.byKey[key]; known != nil {
		if known.Side != nil && *known.Side != string(side) {
			known.Side = nil
		}
		return known
	}
	if side != "" {
		in.Side = ptr(string(side))
	}
	r := &row{Input: in}
	t.byKey[key] = r
	t.rows = append(t.rows, r)
	return r
}

// root adds one root and what it leads to.
func (t *taking) root(ctx context.Context, root Root) {
	in := records.Input{Kind: root.Kind, Name: root.Name, ResolvedBy: "plan"}
	if in.Name == "" {
		in.Name = root.Path
	}
	switch root.Kind {
	case KindBuildSetting:
		in.Value = &root.Value
		t.add(in, root.Side)
	case KindSourceTree:
		t.sourceTree(ctx, root, in)
	case KindPlan:
		t.file(in, root.Path, root.Side)
	default:
		in.ResolvedBy = "argv"
		t.program(in, root, 0)
	}
}

// file adds a row for a file and hashes it.
func (t *taking) file(in records.Input, path string, side records.Side) *row {
	real := realPath(path)
	in.Path = &real
	h := t.hash(real)
	if h.err != nil {
		in.Gap = ptr(gapText(h.err))
	} else {
		in.Bytes, in.SHA256 = &h.size, &h.sum
	}
	r := t.add(in, side)
	r.file = h.info
	return r
}

// hash hashes a file once.
func (t *taking) hash(path string) *hashedFile {
	if h := t.hashed[path]; h != nil {
		return h
	}
	h := hashFile(path)
	t.hashed[path] = h
	return h
}

// hashFile hashes a file and makes sure that it held still meanwhile.
func hashFile(path string) *hashedFile {
	h := &hashedFile{}
	var before fs.FileInfo
	if before, h.err = statFile(path); h.err != nil {
		return h
	}
	sum, size, err := digest.File(path)
	if err != nil {
		h.err = err
		return h
	}
	after, err := statFile(path)
	switch {
	case err != nil:
		h.err = err
	case after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) || size != before.Size():
		h.err = fmt.Errorf("changed while it was hashed")
	default:
		h.sum, h.size, h.info = sum.String(), size, after
	}
	return h
}

// realPath follows symbolic links, so that one file has one path; a path that
// cannot be followed stays as it is.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}

func ptr[T any](v T) *T { return &v }

// sideOf is the side that a row was recorded for; empty means both.
func sideOf(in records.Input) records.Side {
	if in.Side == nil {
		return ""
	}
	return records.Side(strings.TrimSpace(*in.Side))
}
