package importer

import (
	"fmt"

	"pairbench/records"
)

// Source is one file to import.
type Source struct {
	// Name is shown in errors and is the base of the file's name in the bundle.
	Name string
	Data []byte
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
	// ProcessID, Suite, CellID, Side, Slot, FirstInPair.
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
	// Warnings are lines for the user: rows left out, and why.
	Warnings []string
}
