package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pairbench/analyze"
	"pairbench/analyze/report"
	"pairbench/render"
)

func languageFlag() cli.Flag {
	return &cli.StringFlag{Name: "lang", Value: strings.Join(render.Languages(), ","), Usage: "write the report in these `LANGUAGES`"}
}

func languages(c *cli.Context) ([]string, error) { return choices(c, "lang", render.Languages()) }

// choices reads a flag that holds one or more of the known words.
func choices(c *cli.Context, flag string, known []string) ([]string, error) {
	var chosen []string
	for _, word := range strings.Split(c.String(flag), ",") {
		word = strings.TrimSpace(word)
		if !slices.Contains(known, word) {
			return nil, usagef("%s --%s: found %q, expected one or more of %s", c.Command.Name, flag, word, strings.Join(known, ","))
		}
		if !slices.Contains(chosen, word) {
			chosen = append(chosen, word)
		}
	}
	return chosen, nil
}

func renderCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "render",
		Usage:     "turn an analysis into tables and charts",
		ArgsUsage: "ANALYSIS",
		Flags: []cli.Flag{
			languageFlag(),
			&cli.StringFlag{Name: "out", Usage: "the report's `DIR` (default: report beside the analysis)"},
			&cli.StringFlag{Name: "format", Value: strings.Join(render.Formats(), ","), Usage: "write these `FORMATS`"},
			&cli.BoolFlag{Name: "png", Usage: "charts as PNG too, through rsvg-convert"},
		},
		Action: func(c *cli.Context) error {
			args, err := words(c, "ANALYSIS")
			if err != nil {
				return err
			}
			langs, err := languages(c)
			if err != nil {
				return err
			}
			formats, err := choices(c, "format", render.Formats())
			if err != nil {
				return err
			}
			r, err := readReport(args[0])
			if err != nil {
				return err
			}
			out := c.String("out")
			if out == "" {
				out = sibling(args[0], "report")
			}
			if entries, err := os.ReadDir(out); err != nil || len(entries) > 0 {
				if err := refuseExisting("render --out", out); err != nil {
					return err
				}
			}
			paths, err := render.Run(render.Options{Report: r, Out: out, Formats: formats, Langs: langs, PNG: c.Bool("png")})
			if err != nil {
				return err
			}
			for _, path := range paths {
				if _, err := fmt.Fprintln(s.out, path); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// readReport reads the report of an analysis.
func readReport(dir string) (*report.Report, error) {
	r, err := analyze.ReadReport(dir)
	if errors.Is(err, os.ErrNotExist) {
		expected := "a directory that analyze wrote"
		for _, near := range []string{filepath.Join(dir, "analysis"), sibling(dir, "analysis")} {
			if isThere(filepath.Join(near, analyze.ReportFile)) {
				expected += fmt.Sprintf(", such as %s", visible(near))
				break
			}
		}
		return nil, usagef("read %s: no %s in it; expected %s", visible(dir), analyze.ReportFile, expected)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", visible(filepath.Join(dir, analyze.ReportFile)), err)
	}
	return r, nil
}
