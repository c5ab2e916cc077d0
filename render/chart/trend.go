package chart

import (
	"math"
	"strings"
)

// turnedRoom is the width that a turned label takes from its neighbours.
const turnedRoom = 14.0

func layTrend(d *drawnPanel, f *Figure, p *Panel) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, g := range p.Groups {
		for _, b := range g.Bars {
			if b != nil && finite(b.Median) && finite(b.Min) && finite(b.Max) {
				low, high = math.Min(low, min(b.Min, b.Median)), math.Max(high, max(b.Max, b.Median))
			}
		}
	}
	if !(low <= high) {
		low, high = 0, 1
	}
	n := math.Max(float64(len(p.Groups)), 1)
	lines, turn, extra := labelLines(p, (d.W-70)/n-6)
	plotHeight := d.H
	y, left := yAxis(d, f, aroundTicks(low, high))
	bottom := d.H - marginBottom
	d.H = plotHeight + extra
	d.Labels[len(d.Labels)-1].Y = d.H - 4
	slot := (d.W - marginRight - left) / n
	apart := math.Min(slot*0.12, 7) // the sides stand beside each other, so that both whiskers are seen
	labelled := max(1, int(math.Ceil(turnedRoom/slot)))
	var joined [2]strings.Builder
	joins := [2]bool{}
	var marks []drawnCurve
	for i, g := range p.Groups {
		middle := left + slot*(float64(i)+0.5)
		if g.Break {
			d.Breaks = append(d.Breaks, "M"+coord(middle-slot/2)+" "+coord(marginTop-8)+"V"+coord(bottom))
		}
		if g.Note != "" && textWidth(g.Note, 10.5) < 2*slot {
			d.Labels = append(d.Labels, drawnText{Class: "c", X: middle, Y: marginTop - 12, Anchor: "middle", Text: g.Note})
		}
		if i%labelled == 0 {
			labelGroup(d, lines[i], turn, middle, bottom)
		}
		for side, b := range g.Bars {
			joins[side] = joins[side] && !g.Break
			if b == nil {
				continue
			}
			x := middle + apart*float64(2*side-1)
			at := coord(x) + " " + coord(y(b.Median))
			joined[side].WriteString(map[bool]string{false: "M", true: "L"}[joins[side]] + at)
			joins[side] = true
			d.Curves = append(d.Curves, drawnCurve{Class: "w", D: whisker(b, x, math.Min(slot*0.08, 4), y), Tip: b.Tip})
			marks = append(marks, drawnCurve{Class: [...]string{"a", "b"}[side], D: mark(side, x, y(b.Median)), Tip: b.Tip})
		}
	}
	for side := range joined {
		if joined[side].Len() > 0 {
			d.Curves = append(d.Curves, drawnCurve{Class: [...]string{"la", "lb"}[side], D: joined[side].String(), Tip: f.Legend[side]})
		}
	}
	d.Curves = append(d.Curves, marks...)
}

// mark draws a median: a circle for A, a square for B.
func mark(side int, x, y float64) string {
	const r = 3.5
	if side == 1 {
		return "M" + coord(x-r) + " " + coord(y-r) + "h7v7h-7z"
	}
	return "M" + coord(x-r) + " " + coord(y) + "a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z"
}
