package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
)

type object = map[string]any

// The rows of a specification, typed: there are many of them.
type (
	barRow struct {
		Panel  string  `json:"panel"`
		Cell   string  `json:"cell"`
		Arm    string  `json:"arm"`
		Median float64 `json:"median"`
		Min    float64 `json:"min"`
		Max    float64 `json:"max"`
		Change string  `json:"change,omitempty"`
	}
	lineRow struct {
		Panel   string  `json:"panel"`
		Arm     string  `json:"arm"`
		Process string  `json:"process"`
		Value   float64 `json:"value"`
		Share   float64 `json:"share"`
	}
	dotRow struct {
		Panel string  `json:"panel"`
		Arm   string  `json:"arm"`
		Slot  float64 `json:"slot"`
		Value float64 `json:"value"`
	}
)

// VegaLite writes the figure as a Vega-Lite 5 specification with its data
// inside. The same figure gives the same bytes.
func VegaLite(f *Figure) []byte {
	spec := object{
		"$schema":     "https://vega.github.io/schema/vega-lite/v5.json",
		"title":       f.Title,
		"description": f.Description,
		"columns":     2,
		"config":      object{"font": `system-ui, "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif`},
	}
	facet := func(independent object) {
		spec["facet"] = object{"field": "panel", "type": "nominal", "title": nil, "sort": panelOrder(f)}
		spec["resolve"] = object{"scale": independent}
	}
	colour := object{
		"field": "arm", "type": "nominal", "title": nil, "sort": f.Legend[:],
		"scale": object{"domain": f.Legend[:], "range": []string{"#93a1b3", "#0e7c72"}},
	}
	rows := []any{}
	switch f.Kind {
	case Bars, Trend:
		order := []string{}
		seen := map[string]bool{}
		for _, p := range f.Panels {
			for _, g := range p.Groups {
				if !seen[g.Label] {
					seen[g.Label] = true
					order = append(order, g.Label)
				}
				for side, bar := range g.Bars {
					if bar != nil && finite(bar.Median) && finite(bar.Min) && finite(bar.Max) {
						rows = append(rows, barRow{p.Title, g.Label, f.Legend[side], bar.Median, bar.Min, bar.Max, g.Note})
					}
				}
			}
		}
		x := object{"field": "cell", "type": "ordinal", "title": f.X, "sort": order, "axis": object{"labelAngle": 0}}
		offset := object{"field": "arm", "sort": f.Legend[:]}
		mark, fromZero := "bar", true
		if f.Kind == Trend {
			mark, fromZero = "point", false
		}
		facet(object{"y": "independent"})
		spec["spec"] = object{"width": 360, "height": 200, "layer": []object{
			{"mark": object{"type": mark, "tooltip": true}, "encoding": object{"x": x, "xOffset": offset, "color": colour,
				"y": object{"field": "median", "type": "quantitative", "title": f.Y, "scale": object{"zero": fromZero}}}},
			{"mark": object{"type": "errorbar", "ticks": true, "color": "#1b2430"}, "encoding": object{"x": x, "xOffset": offset,
				"y": object{"field": "min", "type": "quantitative", "title": f.Y}, "y2": object{"field": "max"}}},
		}}
	case Lines:
		for _, p := range f.Panels {
			for _, c := range p.Curves {
				for i := range c.X {
					if c.X[i] > 0 && finite(c.X[i]) && finite(c.Y[i]) {
						rows = append(rows, lineRow{p.Title, f.Legend[c.Side], c.Tip, c.X[i], c.Y[i]})
					}
				}
			}
		}
		facet(object{"x": "independent"})
		spec["spec"] = object{"width": 260, "height": 180, "mark": object{"type": "line", "tooltip": true}, "encoding": object{
			"x":      object{"field": "value", "type": "quantitative", "title": f.X, "scale": object{"type": "log"}},
			"y":      object{"field": "share", "type": "quantitative", "title": f.Y},
			"color":  colour,
			"detail": object{"field": "process"},
			"order":  object{"field": "share"},
		}}
	default:
		for _, p := range f.Panels {
			for _, c := range p.Curves {
				for i := range c.X {
					if finite(c.X[i]) && finite(c.Y[i]) {
						rows = append(rows, dotRow{p.Title, f.Legend[c.Side], c.X[i], c.Y[i]})
					}
				}
			}
		}
		facet(object{"y": "independent"})
		spec["spec"] = object{"width": 760, "height": 200, "mark": object{"type": "point", "tooltip": true}, "encoding": object{
			"x":     object{"field": "slot", "type": "quantitative", "title": f.X},
			"y":     object{"field": "value", "type": "quantitative", "title": f.Y, "scale": object{"zero": false}},
			"color": colour,
			"shape": object{"field": "arm", "title": nil, "sort": f.Legend[:]},
		}}
	}
	spec["data"] = object{"values": rows}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	if err := enc.Encode(spec); err != nil {
		panic(fmt.Sprintf("vega-lite specification: %v", err)) // strings and finite numbers always encode
	}
	return b.Bytes()
}

func panelOrder(f *Figure) []string {
	order := []string{}
	for _, p := range f.Panels {
		order = append(order, p.Title)
	}
	return order
}
