package chart

// Kind is the way a figure is drawn.
type Kind int

// The kinds.
const (
	// Bars draws medians as bars from zero with a whisker from min to max.
	Bars Kind = iota
	// Lines draws cumulative shares (0 to 100) over a logarithmic axis.
	Lines
	// Dots draws single values over their position in the order of execution.
	Dots
	// Trend draws medians as dots with a whisker from min to max, a line joining
	// those of a side, in the order of the groups. The axis need not begin at zero.
	Trend
)

// Figure is one chart: panels that share a title, a legend and axis names. All
// texts are shown as they are, escaped for XML and nothing else.
type Figure struct {
	// Name is the base name of its files, without extension: [a-z0-9_.-].
	Name string
	Kind Kind
	// Title and Description are what a screen reader says.
	Title, Description string
	// Legend names side A and side B.
	Legend [2]string
	// X and Y name the axes, with the unit.
	X, Y   string
	Panels []Panel
}

// Panel is one plot with its own scale.
type Panel struct {
	Title string
	// Groups are the positions along the axis of a Bars or Trend panel.
	Groups []Group
	// Curves are the lines or dots of the other kinds.
	Curves []Curve
}

// Group is one cell: a bar for each side; nil where the arm is missing.
type Group struct {
	Label string
	// Note is a short text above the group (the change).
	Note string
	// Break says that a Trend's group does not compare with the one before: a
	// dashed line parts them, and no line joins them.
	Break bool
	Bars  [2]*Bar
}

// Bar is one arm in the shown unit.
type Bar struct {
	Median, Min, Max float64
	// Tip is the tooltip.
	Tip string
}

// Curve is one process of a Lines panel, or one side of a Dots panel. X and Y
// have one length.
type Curve struct {
	Side int // 0 is A, 1 is B
	Tip  string
	X, Y []float64
}

// FileName is the base name of the figure's files in a language, without
// extension.
func FileName(f *Figure, lang string) string { return f.Name + "." + lang }
