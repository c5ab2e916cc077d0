// Package result is what importing finds in a file: a table of observations
// before they have their places in a bundle, and errors that say where a file is
// wrong.
package result

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"pairbench/records"
)

// Source is one file to import.
type Source struct {
	// Name is shown in errors and is the base of the file's name in the bundle.
	Name string
	Data []byte
	// Redacted is the number of secrets that were taken out of Data; 0 means
	// that Data is the file byte for byte.
	Redacted int
}

// Error is what is wrong with a file, where. Line and Column count from 1; 0 is
// unknown.
type Error struct {
	File         string
	Line, Column int
	Problem      string // found X, expected Y
}

func (e *Error) Error() string {
	switch {
	case e.Line > 0 && e.Column > 0:
		return fmt.Sprintf("import %s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
	case e.Line > 0:
		return fmt.Sprintf("import %s:%d: %s", e.File, e.Line, e.Problem)
	default:
		return fmt.Sprintf("import %s: %s", e.File, e.Problem)
	}
}

// Observation is one process, or one repetition of a tool that has no
// processes, before it has its place in a bundle.
type Observation struct {
	// Line is where it stands in its file, for errors; 0 is unknown.
	Line  int
	Suite string
	// CellID is empty when the factors name the cell.
	CellID  string
	Factors []records.Factor
	// Process has everything but the fields that build assigns: ProcessNo,
	// ProcessID, Suite, CellID, Side, Slot, FirstInPair. Pair assigns Arm and
	// Round where a format has none.
	Process records.Process
	// Samples are raw samples where the file has them; nil otherwise.
	Samples *records.Samples
}

// Table is what one import found, in the order of the files.
type Table struct {
	Observations []Observation
	// Arms are the names of A and B; empty: the two values of Process.Arm in
	// order of appearance.
	Arms [2]string
	// Metrics are what a report of the format shows; nil: what it has.
	Metrics []string
	// NamedByTarget says that a result's name is what ran (a command, an
	// address) and not what was measured, so that the only result of one file
	// is the partner of the only result of another.
	NamedByTarget bool
	// Picked is the result that was asked for by name; "" where all were.
	Picked string
	// Warnings are lines for the user: rows left out, and why.
	Warnings []string
}

// MaxObservations bounds what one import may hold.
const MaxObservations = 100_000

// Add adds an observation of a file, unless there are too many.
func (t *Table) Add(file string, o Observation) error {
	if len(t.Observations) == MaxObservations {
		return &Error{File: file, Line: o.Line, Problem: fmt.Sprintf("found more than %d results, expected fewer", MaxObservations)}
	}
	t.Observations = append(t.Observations, o)
	return nil
}

// maxWarnings bounds what is said about one file.
const maxWarnings = 1000

// Warn adds a line for the user; of too many the last one says that there are
// more.
func (t *Table) Warn(format string, args ...any) {
	switch n := len(t.Warnings); {
	case n < maxWarnings:
		t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...))
	case n == maxWarnings:
		t.Warnings = append(t.Warnings, "further warnings are left out")
	}
}

// New starts an observation of a tool that says nothing of processes.
func New(line int, suite string, factors ...records.Factor) Observation {
	return Observation{Line: line, Suite: suite, Factors: factors, Process: records.Process{Outcome: records.OutcomeOK}}
}

// Word is a factor that is a word.
func Word(name, value string) records.Factor {
	return records.Factor{Name: name, Value: records.StringFactor(value)}
}

// Whole is a factor that is a whole number.
func Whole(name string, value int64) records.Factor {
	return records.Factor{Name: name, Value: records.IntFactor(value)}
}

// Failed marks a process that enters no median, with the reason, cut where it is
// long.
func Failed(p *records.Process, outcome records.Outcome, detail string) {
	const most = 1000
	if len(detail) > most {
		detail = strings.ToValidUTF8(detail[:most], "") + "..."
	}
	p.Outcome, p.OutcomeDetail = outcome, &detail
}

// Place finds lines and columns of offsets in Text; asking in ascending order is
// cheap.
type Place struct {
	Text         []byte
	offset, line int // line counts the newlines before offset
}

// Line returns the line of an offset, from 1.
func (p *Place) Line(offset int) int {
	offset = min(max(offset, 0), len(p.Text))
	if offset < p.offset {
		p.offset, p.line = 0, 0
	}
	p.line += bytes.Count(p.Text[p.offset:offset], []byte{'\n'})
	p.offset = offset
	return p.line + 1
}

// Of returns the line and column of an offset, both from 1. It goes back to the
// start of the line.
func (p *Place) Of(offset int) (line, column int) {
	line = p.Line(offset)
	start := bytes.LastIndexByte(p.Text[:p.offset], '\n') + 1
	return line, utf8.RuneCount(p.Text[start:p.offset]) + 1
}

// Quote shows text of a file in an error, cut where it is long, and between
// backquotes where it holds quotes itself.
func Quote(text string) string {
	const most = 40
	short, dots := text, ""
	if len(text) > most {
		short, dots = strings.ToValidUTF8(text[:most], ""), "..."
	}
	if strings.Contains(short, `"`) {
		return fmt.Sprintf("%#q", short) + dots
	}
	return strconv.Quote(short) + dots
}
