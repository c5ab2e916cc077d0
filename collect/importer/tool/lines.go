package tool

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	"pairbench/collect/importer/result"
)

// textFile is a source that is read line by line, whatever their length.
type textFile struct {
	src    result.Source
	number int // of the current line, from 1
	// open says that the current line has no end: it is the last, and its end may
	// be missing.
	open bool
}

// lines visits the lines without their ends; the last one needs none.
func (f *textFile) lines() iter.Seq[string] {
	return func(yield func(string) bool) {
		rest := bytes.TrimPrefix(f.src.Data, []byte("\ufeff"))
		for len(rest) > 0 {
			line := rest
			if at := bytes.IndexByte(rest, '\n'); at >= 0 {
				line, rest = rest[:at], rest[at+1:]
			} else {
				rest, f.open = nil, true
			}
			f.number++
			if !yield(string(bytes.TrimSuffix(line, []byte("\r")))) {
				return
			}
		}
	}
}

func (f *textFile) fail(format string, args ...any) error {
	return &result.Error{File: f.src.Name, Line: f.number, Problem: fmt.Sprintf(format, args...)}
}

// warnOpen tells of a number that was taken from an open line.
func (f *textFile) warnOpen(t *result.Table) {
	t.Warn("%s:%d: the last line has no end; its last number may be cut", f.src.Name, f.number)
}

// failFile reports what the file as a whole lacks.
func (f *textFile) failFile(format string, args ...any) error {
	return &result.Error{File: f.src.Name, Problem: fmt.Sprintf(format, args...)}
}

// valueWithUnit splits 635.91us into its number and unit.
func valueWithUnit(text string) (number, unit string) {
	at := strings.LastIndexAny(text, "0123456789.") + 1
	return text[:at], text[at:]
}
