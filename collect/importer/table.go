package importer

import (
	"bytes"
	"fmt"
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
	// Warnings are lines for the user: rows left out, and why.
	Warnings []string
}

func (t *Table) warn(format string, args ...any) {
	t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...))
}

// observe starts an observation of a tool that says nothing of processes.
func observe(line int, suite string, factors ...records.Factor) Observation {
	return Observation{Line: line, Suite: suite, Factors: factors, Process: records.Process{Outcome: records.OutcomeOK}}
}

func word(name, value string) records.Factor {
	return records.Factor{Name: name, Value: records.StringFactor(value)}
}

func whole(name string, value int64) records.Factor {
	return records.Factor{Name: name, Value: records.IntFactor(value)}
}

func failed(p *records.Process, outcome records.Outcome, detail string) {
	p.Outcome, p.OutcomeDetail = outcome, &detail
}

// place finds lines and columns of offsets; asking in ascending order is cheap.
type place struct {
	text         []byte
	offset, line int // line counts the newlines before offset
}

func (p *place) of(offset int) (line, column int) {
	offset = min(max(offset, 0), len(p.text))
	if offset < p.offset {
		p.offset, p.line = 0, 0
	}
	p.line += bytes.Count(p.text[p.offset:offset], []byte{'\n'})
	p.offset = offset
	start := bytes.LastIndexByte(p.text[:offset], '\n') + 1
	return p.line + 1, utf8.RuneCount(p.text[start:offset]) + 1
}
