package chart

import (
	"math"
	"strings"
)

// The drawn form: what the templates read, in user units.
type drawnFigure struct {
	*Figure
	Style                string
	W, H                 float64
	LegendX, LegendTextX float64
	UnitX                float64
	Panels               []drawnPanel
}

type drawnPanel struct {
	ID                 string
	Title, Description string
	X, Y, W, H         float64
	Axis               string
	Grid               []drawnLine
	Breaks             []string // paths
	Bars               []drawnBar
	Curves             []drawnCurve
	Labels             []drawnText
}

type drawnLine struct {
	D      string
	X, Y   float64
	Anchor string
	Text   string
}

type drawnBar struct{ Class, D, Whisker, Tip string }

type drawnCurve struct{ Class, D, Tip string }

type drawnText struct {
	Class  string
	X, Y   float64
	Anchor string
	Text   string
	Turn   bool
}

const (
	panelHeight  = 236.0
	marginTop    = 28.0
	marginBottom = 40.0
	marginRight  = 10.0
	narrow       = 300.0
	medium       = 460.0
	wide         = 940.0
)

// width gives a panel as much room as its groups need, in three steps.
func width(f *Figure, p *Panel) float64 {
	switch {
	case f.Kind == Dots || len(p.Groups) > 14 || f.Kind != Lines && needsRoom(p):
		return wide
	case f.Kind == Lines || len(p.Groups) <= 3:
		return narrow
	default:
		return medium
	}
}

// needsRoom reports whether labels do not fit into a panel of medium width.
func needsRoom(p *Panel) bool {
	for _, g := range p.Groups {
		if textWidth(g.Label, 12)*float64(len(p.Groups)) > medium-70 {
			return true
		}
	}
	return false
}

// Width names the step of a panel's width: narrow, medium or wide.
func (f *Figure) Width(panel int) string {
	switch width(f, &f.Panels[panel]) {
	case wide:
		return "wide"
	case narrow:
		return "narrow"
	default:
		return "medium"
	}
}

func layFigure(f *Figure) drawnFigure {
	const sheet = 956.0
	d := drawnFigure{Figure: f, W: sheet}
	d.LegendX = 34 + textWidth(f.Legend[0], 12) + 18
	d.LegendTextX = d.LegendX + 18
	d.UnitX = d.LegendTextX + textWidth(f.Legend[1], 12) + 18
	x, y, lowest := 8.0, 84.0, 84.0
	for i := range f.Panels {
		p := layPanel(f, &f.Panels[i])
		if x > 8 && x+p.W > sheet-8 {
			x, y = 8, lowest
		}
		p.X, p.Y = x, y
		x += p.W + 16
		if bottom := y + p.H + 32; bottom > lowest {
			lowest = bottom
		}
		d.Panels = append(d.Panels, p)
	}
	d.H = lowest - 8
	return d
}

func layPanel(f *Figure, p *Panel) drawnPanel {
	d := drawnPanel{Title: p.Title, Description: f.Description, W: width(f, p), H: panelHeight}
	if p.Title == "" {
		d.Title = f.Title
	}
	switch f.Kind {
	case Bars:
		layBars(&d, f, p)
	case Lines:
		layLines(&d, f, p)
	case Trend:
		layTrend(&d, f, p)
	default:
		layDots(&d, f, p)
	}
	return d
}

// yAxis draws the horizontal grid and returns the mapping to y and the left end
// of the plot.
func yAxis(d *drawnPanel, f *Figure, ticks []float64) (y func(float64) float64, left float64) {
	widest := 0.0
	for _, t := range ticks {
		widest = math.Max(widest, textWidth(label(t), 12))
	}
	left = math.Ceil(widest) + 14
	low, high := ticks[0], ticks[len(ticks)-1]
	top, bottom := marginTop, d.H-marginBottom
	y = func(v float64) float64 { return bottom - (v-low)/(high-low)*(bottom-top) }
	for _, t := range ticks {
		at := y(t)
		d.Grid = append(d.Grid, drawnLine{
			D: "M" + coord(left) + " " + coord(at) + "H" + coord(d.W-marginRight),
			X: left - 6, Y: at + 4, Anchor: "end", Text: label(t),
		})
	}
	d.Axis = "M" + coord(left) + " " + coord(bottom) + "H" + coord(d.W-marginRight)
	d.Labels = append(d.Labels, drawnText{Class: "u", X: d.W - marginRight, Y: d.H - 4, Anchor: "end", Text: f.X})
	return y, left
}

func layBars(d *drawnPanel, f *Figure, p *Panel) {
	top := 0.0
	for _, g := range p.Groups {
		for _, bar := range g.Bars {
			if bar != nil && finite(bar.Max) && finite(bar.Median) {
				top = math.Max(top, math.Max(bar.Max, bar.Median))
			}
		}
	}
	n := math.Max(float64(len(p.Groups)), 1)
	lines, turn, extra := labelLines(p, (d.W-70)/n-6)
	plotHeight := d.H
	y, left := yAxis(d, f, niceTicks(top))
	d.H = plotHeight + extra
	d.Labels[len(d.Labels)-1].Y = d.H - 4
	slot := (d.W - marginRight - left) / n
	width := math.Min(slot*0.36, 34)
	zero := y(0)
	for i, g := range p.Groups {
		middle := left + slot*(float64(i)+0.5)
		for side, b := range g.Bars {
			if b != nil {
				d.Bars = append(d.Bars, layBar(b, side, middle-width-0.75+float64(side)*(width+1.5), width, y))
			}
		}
		if g.Note != "" && textWidth(g.Note, 10.5) < slot {
			d.Labels = append(d.Labels, drawnText{Class: "c", X: middle, Y: marginTop - 12, Anchor: "middle", Text: g.Note})
		}
		labelGroup(d, lines[i], turn, middle, zero)
	}
}

// labelGroup writes a group's label below the axis.
func labelGroup(d *drawnPanel, lines []string, turn bool, middle, axis float64) {
	if turn {
		d.Labels = append(d.Labels, drawnText{Class: "k", X: middle + 4, Y: axis + 16, Anchor: "end", Text: lines[0], Turn: true})
		return
	}
	for k, text := range lines {
		d.Labels = append(d.Labels, drawnText{Class: "k", X: middle, Y: axis + 16 + 14*float64(k), Anchor: "middle", Text: text})
	}
}

// layBar draws a bar from zero and its whisker in the middle of it.
func layBar(b *Bar, side int, x, width float64, y func(float64) float64) drawnBar {
	centre, cap := x+width/2, math.Min(width*0.3, 5)
	return drawnBar{
		Class: [...]string{"a", "b"}[side], Tip: b.Tip,
		D:       "M" + coord(x) + " " + coord(y(0)) + "V" + coord(y(b.Median)) + "h" + coord(width) + "V" + coord(y(0)) + "z",
		Whisker: whisker(b, centre, cap, y),
	}
}

// whisker draws a range from min to max at x, its caps so wide to either side.
func whisker(b *Bar, x, cap float64, y func(float64) float64) string {
	return "M" + coord(x) + " " + coord(y(b.Min)) + "V" + coord(y(b.Max)) +
		"M" + coord(x-cap) + " " + coord(y(b.Max)) + "h" + coord(2*cap) +
		"M" + coord(x-cap) + " " + coord(y(b.Min)) + "h" + coord(2*cap)
}

// labelLines breaks the groups' labels at their dots so that they fit into
// room; where that is not enough they are cut short and turned. extra is the
// height that they need beyond one line.
func labelLines(p *Panel, room float64) (lines [][]string, turn bool, extra float64) {
	most := 1
	for _, g := range p.Groups {
		parts := []string{g.Label}
		if textWidth(g.Label, 12) > room {
			parts = strings.Split(g.Label, labelBreak)
		}
		for _, part := range parts {
			turn = turn || textWidth(part, 12) > room
		}
		lines = append(lines, parts)
		most = max(most, len(parts))
	}
	if !turn {
		return lines, false, 14 * float64(most-1)
	}
	longest := 0.0
	for i, g := range p.Groups {
		lines[i] = []string{shorten(g.Label, 18)}
		longest = math.Max(longest, textWidth(lines[i][0], 12))
	}
	return lines, true, longest * 0.62
}

// labelBreak is where a label may be broken.
const labelBreak = " · "

func layLines(d *drawnPanel, f *Figure, p *Panel) {
	low, high := math.Inf(1), 0.0
	for _, c := range p.Curves {
		for _, v := range c.X {
			if v > 0 && !math.IsInf(v, 0) {
				low, high = math.Min(low, v), math.Max(high, v)
			}
		}
	}
	if !(low <= high) {
		low, high = 1, 10
	}
	if high < low*1.5 {
		low, high = low/1.3, high*1.3
	}
	y, left := yAxis(d, f, []float64{0, 25, 50, 75, 100})
	right := d.W - marginRight
	x := func(v float64) float64 {
		return left + (math.Log(math.Max(v, low))-math.Log(low))/(math.Log(high)-math.Log(low))*(right-left)
	}
	lastEnd := math.Inf(-1)
	for _, t := range logTicks(low, high) {
		at, half := x(t), textWidth(label(t), 12)/2
		line := drawnLine{D: "M" + coord(at) + " " + coord(marginTop) + "V" + coord(y(0)), X: at, Y: y(0) + 16, Anchor: "middle"}
		if at-half > lastEnd+6 && at+half < d.W {
			line.Text, lastEnd = label(t), at+half
		}
		d.Grid = append(d.Grid, line)
	}
	for _, c := range p.Curves {
		var b strings.Builder
		for i := range c.X {
			b.WriteByte("ML"[min(i, 1)])
			b.WriteString(coord(x(c.X[i])) + " " + coord(y(c.Y[i])))
		}
		d.Curves = append(d.Curves, drawnCurve{Class: [...]string{"la", "lb"}[c.Side], D: b.String(), Tip: c.Tip})
	}
}

func layDots(d *drawnPanel, f *Figure, p *Panel) {
	low, high, first, last := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, c := range p.Curves {
		for i := range c.Y {
			if !finite(c.X[i]) || !finite(c.Y[i]) {
				continue
			}
			low, high = math.Min(low, c.Y[i]), math.Max(high, c.Y[i])
			first, last = math.Min(first, c.X[i]), math.Max(last, c.X[i])
		}
	}
	if !(low <= high) {
		low, high, first, last = 0, 1, 1, 1
	}
	y, left := yAxis(d, f, aroundTicks(low, high))
	bottom := d.H - marginBottom
	x := func(v float64) float64 { return left + 6 + (v-first)/math.Max(last-first, 1)*(d.W-marginRight-left-12) }
	for _, t := range aroundTicks(first, last) {
		if t < first || t > last || t != math.Trunc(t) {
			continue
		}
		d.Labels = append(d.Labels, drawnText{Class: "k", X: x(t), Y: bottom + 16, Anchor: "middle", Text: label(t)})
	}
	for _, c := range p.Curves {
		var b strings.Builder
		for i := range c.X {
			// A line of no length with round ends is a dot.
			b.WriteString("M" + coord(x(c.X[i])) + " " + coord(y(c.Y[i])) + "h0")
		}
		d.Curves = append(d.Curves, drawnCurve{Class: [...]string{"pa", "pb"}[c.Side], D: b.String(), Tip: c.Tip})
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// textWidth estimates the width of text at a font size: Chinese is as wide as
// it is high, the rest a little over half.
func textWidth(text string, size float64) float64 {
	w := 0.0
	for _, r := range text {
		switch {
		case r >= 0x2e80:
			w += size
		case r == ',' || r == '.' || r == ' ' || r == '/' || r == 'i' || r == 'l':
			w += size * 0.32
		default:
			w += size * 0.58
		}
	}
	return w
}

// shorten cuts a label to n runes, the last of them an ellipsis.
func shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}
