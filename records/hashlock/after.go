package hashlock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"

	"pairbench/records"
)

// AddMappings notes the executable files that a running process has mapped and
// that the lock does not know yet: libraries that it opened at run time. They
// get their hash from Rehash, as one taken after the last process; until then
// they are a gap. It costs one read of the process's map and a stat for each
// file. Where the system shows no such map, the lock as a whole has a gap.
//
// The side is the arm of the process. The error is of reading the map: the
// process may be gone.
func (l *Lock) AddMappings(pid int, side records.Side) error {
	files, err := mappedFiles(pid)
	if errors.Is(err, errors.ErrUnsupported) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !slices.Contains(l.gaps, noMappings) {
			l.gaps = append(l.gaps, noMappings)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read mappings of process %d: %w", pid, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range files {
		l.addMapped(f, side)
	}
	return nil
}

// mappedFile is an executable mapping of a file.
type mappedFile struct {
	path    string
	deleted bool
}

const noMappings = "libraries that programs open at run time are not caught on this system"

// notYetHashed stands in the gap of a mapped file until Rehash.
const notYetHashed = "opened at run time and not hashed yet"

func (l *Lock) addMapped(f mappedFile, side records.Side) {
	info, err := os.Stat(f.path)
	for _, r := range l.rows {
		if !r.covers(f, info) {
			continue
		}
		if r.ResolvedBy == resolvedByMappings && sideOf(r.Input) != side {
			r.Side = nil
		}
		return
	}
	in := records.Input{Kind: KindLibrary, Name: f.path, Path: &f.path, ResolvedBy: resolvedByMappings}
	if side != "" {
		in.Side = ptr(string(side))
	}
	r := &row{Input: in}
	switch {
	case f.deleted:
		r.Gap = ptr("mapped by a process, but its file was replaced or deleted")
	case err != nil:
		r.Gap = ptr(gapText(err))
	default:
		r.file = info
		r.Gap = ptr(notYetHashed)
	}
	l.rows = append(l.rows, r)
}

// covers reports whether a row stands for a mapped file. A deleted file is only
// covered by a row that says so: what lies at its path now is another one.
func (r *row) covers(f mappedFile, info fs.FileInfo) bool {
	if r.Path == nil {
		return false
	}
	if gone := r.ResolvedBy == resolvedByMappings && r.file == nil; gone != f.deleted {
		return false
	}
	return *r.Path == f.path || !f.deleted && info != nil && r.file != nil && os.SameFile(r.file, info)
}

// Keep takes over the rows that an earlier session of the same collection found
// in running processes. Rows that this lock resolved by itself stay as they are.
func (l *Lock) Keep(before []records.Input) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, in := range before {
		if in.ResolvedBy == resolvedByMappings && in.Path != nil {
			l.addMapped(mappedFile{path: *in.Path}, sideOf(in))
		}
	}
}

// Rehash resolves and hashes everything again, after the last process. Each
// difference is a finding, and makes the lock incomplete. The error is that the
// context ended; the lock is then unchanged.
func (l *Lock) Rehash(ctx context.Context) ([]string, error) {
	now, err := Take(ctx, l.roots)
	if err != nil {
		return nil, fmt.Errorf("hash inputs again: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	findings := Diff(inputsOf(l.rows), inputsOf(now.rows))
	after := map[diffKey]*row{}
	for i, key := range keysOf(inputsOf(now.rows)) {
		after[key] = now.rows[i]
	}
	for i, key := range keysOf(inputsOf(l.rows)) {
		r := l.rows[i]
		if r.ResolvedBy == resolvedByMappings {
			findings = append(findings, l.rehashMapped(r)...)
			continue
		}
		found := after[key]
		delete(after, key)
		if found == nil {
			r.addGap("no longer found after the last process")
			continue
		}
		r.SHA256After = found.SHA256
		if change := difference(r.Input, found.Input); change != "" {
			r.addGap("changed while processes ran: " + change)
		}
	}
	for i, key := range keysOf(inputsOf(now.rows)) {
		if r := now.rows[i]; after[key] == r {
			r.SHA256After, r.SHA256 = r.SHA256, nil
			r.addGap("found only after the last process")
			l.rows = append(l.rows, r)
		}
	}
	l.rehash = true
	sort.Strings(findings)
	return findings, nil
}

// rehashMapped hashes a file that was first seen in a running process. It is
// closed when the file's own change time shows that it is older than the lock.
func (l *Lock) rehashMapped(r *row) []string {
	if r.file == nil {
		return nil
	}
	r.Gap = nil
	h := hashFile(*r.Path)
	switch {
	case h.err != nil:
		r.addGap(gapText(h.err))
	case !os.SameFile(h.info, r.file) || !h.info.ModTime().Equal(r.file.ModTime()) || h.info.Size() != r.file.Size():
		r.Bytes, r.SHA256After = &h.size, &h.sum
		r.addGap("changed after a process had mapped it")
	default:
		r.Bytes, r.SHA256After = &h.size, &h.sum
		if changed, ok := changeTime(h.info); !ok {
			r.addGap("opened at run time, and the system does not tell when the file last changed")
		} else if !changed.Before(l.taken) {
			r.addGap("opened at run time, and changed after the first hashes were taken")
		}
	}
	if r.Gap == nil {
		return nil
	}
	return []string{describe(r.Input) + ": " + *r.Gap}
}

func (r *row) addGap(gap string) {
	if r.Gap != nil {
		gap = *r.Gap + "; " + gap
	}
	r.Gap = &gap
}

func inputsOf(rows []*row) []records.Input {
	inputs := make([]records.Input, len(rows))
	for i, r := range rows {
		inputs[i] = r.Input
	}
	return inputs
}
