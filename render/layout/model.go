package layout

import "pairbench/render/chart"

// Document is one report in one language.
type Document struct {
	Lang  string
	Title string
	// Lead is the question that the study answers.
	Lead string
	// Facts stand under the title: what, how many, when, which evidence.
	Facts    []Fact
	Sections []Section
	// Distributions are the figures that Groups show panel by panel, whole.
	Distributions []*chart.Figure
	// Groups are the processes behind the numbers, by suite and cell.
	Groups []Group
}

// Fact is a name and what it is.
type Fact struct{ Name, Value string }

// Section is a titled part. ID is a fragment made of [a-z0-9-], unique in the
// document and the same in every language.
type Section struct {
	ID     string
	Title  string
	Blocks []Block
}

// Block is a part of a section: Paragraph, Callout, Highlights, List, Code, Table, Figure,
// Subheading or Details.
type Block interface{ block() }

// Paragraph is prose.
type Paragraph struct{ Text string }

// Callout is prose that must not be missed.
type Callout struct{ Text string }

// Highlights are the few figures that a reader in a hurry takes away. What they
// say stands in the prose as well, so a format may leave them out.
type Highlights struct{ Items []Highlight }

// Highlight is one of them: a large figure with words above and below.
type Highlight struct{ Title, Figure, Text string }

// List is items of prose.
type List struct{ Items []string }

// Code is text to be typed, line by line.
type Code struct{ Text string }

// Subheading starts a part of a section.
type Subheading struct{ ID, Title string }

// Details is what most readers do not open.
type Details struct {
	Summary string
	Blocks  []Block
}

// Figure is a chart and what is said below it.
type Figure struct {
	Chart   *chart.Figure
	Caption string
}

// Table has as many cells in each row as it has columns.
type Table struct {
	// ID is a fragment, as in Section. Title is empty where a heading says it.
	ID, Title, Caption string
	Columns            []Column
	Rows               []Row
	// Data are the paths of the table's CSV twins, relative to the report.
	Data []string
	// Filter says that a reader may want to narrow the rows.
	Filter bool
}

// Column is the title of a column and what stands in it.
type Column struct {
	Title   string
	Numeric bool // set to the right, sorted by value
}

// Row is a line of a table.
type Row struct{ Cells []Cell }

// Cell is one field of a table.
type Cell struct {
	Text string
	// Sort is the value that a numeric column sorts by; nil sorts last.
	Sort *float64
	// Behind leads to the processes behind a number; nil where there are none.
	Behind *Behind
	// Hint explains an absent value.
	Hint string
	Tone Tone
}

// Tone is how a cell is set.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Quiet      // absent or beside the point
	Alert      // worth a second look
	Mono       // a hash, a file name, an id
)

// Behind names a cell, one of its metrics and a side.
type Behind struct {
	Group, Cell int // indices into Document.Groups and Group.Cells
	Metric      int // index into Group.Metrics
	Side        int // 0 is A, 1 is B, -1 is both
}

// Group is the processes of one suite.
type Group struct {
	Suite   string
	Metrics []string // titles with units
	Cells   []CellProcesses
}

// CellProcesses is every process of a cell, by slot.
type CellProcesses struct {
	Title, ID string
	Notes     []string
	Processes []Process
	// Latency draws the distribution of each process; nil without samples.
	Latency *chart.Figure
	Panel   int // the cell's panel in Latency
}

// Process is one row behind a number.
type Process struct {
	Number, Arm, Round, Slot, Order, Started, Outcome string
	Failed                                            bool
	Side                                              int
	Values                                            []Cell // one for each of Group.Metrics
	Facts                                             []Fact // what a reader unfolds
	// Stdout and Stderr are nil when the process wrote nothing.
	Stdout, Stderr *Output
}

// Output is the beginning of what a process wrote.
type Output struct {
	Title, Text string
	// Cut says how much there was when Text is not all of it.
	Cut string
}

func (Paragraph) block()  {}
func (Callout) block()    {}
func (Highlights) block() {}
func (List) block()       {}
func (Code) block()       {}
func (Subheading) block() {}
func (Details) block()    {}
func (Figure) block()     {}
func (*Table) block()     {}

// Figures lists every chart of the document, each once: those of the sections
// in order, then Distributions.
func (d *Document) Figures() []*chart.Figure {
	var all []*chart.Figure
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			if f, ok := b.(Figure); ok {
				all = append(all, f.Chart)
			}
		}
	}
	return append(all, d.Distributions...)
}
