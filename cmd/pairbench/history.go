package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"pairbench/analyze"
	"pairbench/analyze/report"
	"pairbench/records/atomicfile"
	"pairbench/records/bundle"
	"pairbench/render/chart"
	"pairbench/render/i18n"
	"pairbench/render/layout"
)

func historyCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "history",
		Usage:     "show a metric over all bundles below a directory, oldest first, those without a date by name",
		ArgsUsage: "DIR",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "metric", Value: "throughput", Usage: "the metric's `ID`"},
			&cli.StringFlag{Name: "suite", Usage: "only the suite `ID`"},
			&cli.StringFlag{Name: "cells", Usage: "only the cells whose id matches `GLOB`"},
			&cli.BoolFlag{Name: "json", Usage: "print the rows as JSON"},
			&cli.StringFlag{Name: "chart", Usage: "draw the rows as well, as an SVG `FILE`"},
		},
		Action: func(c *cli.Context) error {
			args, err := words(c, "DIR")
			if err != nil {
				return err
			}
			file := c.String("chart")
			if file != "" {
				if err := refuseExisting("history --chart", file); err != nil {
					return err
				}
			}
			dirs, err := findBundles(args[0])
			if err != nil {
				return err
			}
			if len(dirs) == 0 {
				return usagef("history %s: no bundle below it", visible(args[0]))
			}
			all, err := analyze.History(c.Context, dirs)
			if err != nil {
				return err
			}
			var rows []report.HistoryRow
			for _, row := range all {
				inCells := true
				if glob := c.String("cells"); glob != "" {
					if inCells, err = filepath.Match(glob, row.Cell); err != nil {
						return usagef("history --cells: %q is no glob", glob)
					}
				}
				if row.Metric.ID == c.String("metric") && inCells && (c.String("suite") == "" || c.String("suite") == row.Suite) {
					rows = append(rows, row)
				}
			}
			if len(rows) == 0 {
				return usagef("history %s: nothing matches metric %q and the selection", visible(args[0]), c.String("metric"))
			}
			if file != "" {
				if err := writeChart(file, rows); err != nil {
					return err
				}
			}
			if c.Bool("json") {
				return printJSON(s.out, rows)
			}
			return printHistory(s.out, rows)
		},
	}
}

func writeChart(path string, rows []report.HistoryRow) error {
	w, _ := i18n.For(i18n.English)
	svg := chart.NewPainter().SVG(layout.History(rows, w))
	if err := atomicfile.WriteBytes(atomicfile.OS{}, filepath.Clean(path), 0o644, svg); err != nil {
		return fmt.Errorf("history --chart %s: %w", visible(path), err)
	}
	return nil
}

// maxDepth is how deep below DIR history looks for bundles: DIR/NAME/bundle.
const maxDepth = 3

func findBundles(dir string) ([]string, error) {
	var found []string
	root := filepath.Clean(dir)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if _, err := os.Stat(filepath.Join(path, filepath.FromSlash(bundle.RunFile))); err == nil {
			if filepath.Ext(path) != bundle.PartialSuffix {
				found = append(found, path)
			}
			return fs.SkipDir
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err == nil && strings.Count(relative, string(filepath.Separator)) >= maxDepth {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", visible(dir), err)
	}
	return found, nil
}

// inBaseUnits writes a value in base units: of ns and bytes there are no tenths that
// mean anything.
func inBaseUnits(row report.HistoryRow, v *report.Number) string {
	if row.Metric.Unit == "ns" || row.Metric.Unit == "bytes" {
		return fmt.Sprintf("%.0f", v.Float())
	}
	return fmt.Sprintf("%.1f", v.Float())
}

func printHistory(w io.Writer, rows []report.HistoryRow) error {
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(table, "started\tbundle\tsuite\tcell\tarm\trevision\t%s, %s\trange\tn\n", rows[0].Metric.ID, rows[0].Metric.Unit)
	for _, row := range rows {
		revision := ""
		if row.Revision != nil {
			revision = *row.Revision
		}
		started := "unknown" // an imported file need not say when it was measured
		if !row.StartedAt.IsZero() {
			started = row.StartedAt.UTC().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.12s\t%s\t%s to %s\t%d\n", started, row.Bundle[:12],
			visible(row.Suite), visible(row.Cell), visible(row.Arm), visible(revision),
			inBaseUnits(row, row.Summary.Median), inBaseUnits(row, row.Summary.Min), inBaseUnits(row, row.Summary.Max), row.Summary.N)
	}
	return table.Flush()
}
