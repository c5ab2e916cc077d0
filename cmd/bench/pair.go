package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
)

// figures are what one run of a side measured, by name.
type figures map[string]float64

// side is one side of a row: command is what is shown of it.
type side struct {
	command string
	run     func(context.Context) (figures, error)
}

// figure is one line of the table, taken from the runs of both sides.
type figure struct {
	what string
	// key names the figure in both sides' runs.
	key  string
	unit string
	// less says that the smaller value is better: the ratio is then against/ours.
	less bool
	// reach is what issue and readers expect, in words.
	reach string
}

// row is a line of the table.
type row struct {
	figure
	ours, against   []float64
	oursCommand     string
	againstCommand  string
	ratio, low, top float64
}

// pair runs both sides in turn and adds a row for each figure. Without against
// the rows have no ratio. Figures with the name of one in agree must be equal on
// all runs of both sides: they are the result of the work.
func (b *bench) pair(ctx context.Context, ours, against side, agree []string, wanted ...figure) error {
	var a, o []figures
	for range b.rounds {
		for _, s := range []struct {
			side side
			runs *[]figures
		}{{ours, &o}, {against, &a}} {
			if s.side.run == nil {
				continue
			}
			got, err := s.side.run(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", s.side.command, err)
			}
			*s.runs = append(*s.runs, got)
		}
	}
	for _, name := range agree {
		for _, got := range append(slices.Clone(o), a...) {
			if got[name] != o[0][name] {
				return fmt.Errorf("%s: %s is %v on one side and %v on the other", ours.command, name, o[0][name], got[name])
			}
		}
	}
	for _, f := range wanted {
		r := row{figure: f, oursCommand: ours.command}
		for i := range o {
			r.ours = append(r.ours, o[i][f.key])
		}
		if _, both := first(a)[f.key]; both {
			r.againstCommand = against.command
			r.low = math.Inf(1)
			for i := range a {
				r.against = append(r.against, a[i][f.key])
				each := f.ratio(r.ours[i], r.against[i])
				r.low, r.top = min(r.low, each), max(r.top, each)
			}
			r.ratio = f.ratio(median(r.ours), median(r.against))
		}
		b.rows = append(b.rows, r)
		fmt.Fprintln(os.Stderr, r.line())
	}
	return nil
}

func first(runs []figures) figures {
	if len(runs) == 0 {
		return nil
	}
	return runs[0]
}

func (f figure) ratio(ours, against float64) float64 {
	if f.less {
		return against / ours
	}
	return ours / against
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
