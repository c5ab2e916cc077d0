package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"pairbench/analyze"
	"pairbench/records/bundle"
	"pairbench/render/notebook"
)

func notebookCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "notebook",
		Usage:     "write a Jupyter notebook that recomputes every table from the raw samples",
		ArgsUsage: "ANALYSIS",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "the notebook's `FILE` (default: analysis.ipynb in the analysis' parent)"},
			&cli.StringSliceFlag{Name: "bundle", Usage: "the `DIR` of a bundle of the analysis (default: bundle beside the analysis; may be repeated)"},
		},
		Action: func(c *cli.Context) error {
			args, err := words(c, "ANALYSIS")
			if err != nil {
				return err
			}
			r, err := readReport(args[0])
			if err != nil {
				return err
			}
			bundles := c.StringSlice("bundle")
			if len(bundles) == 0 {
				bundles = []string{sibling(args[0], "bundle")}
			}
			for i, dir := range bundles {
				if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(bundle.RunFile))); err != nil {
					return usagef("notebook: %s is no bundle; name the analysis' bundles with --bundle", visible(dir))
				}
				if bundles[i], err = filepath.Abs(dir); err != nil {
					return fmt.Errorf("notebook %s: %w", visible(dir), err)
				}
			}
			reportPath, err := filepath.Abs(filepath.Join(args[0], analyze.ReportFile))
			if err != nil {
				return fmt.Errorf("notebook %s: %w", visible(args[0]), err)
			}
			out := c.String("out")
			if out == "" {
				out = sibling(args[0], "analysis.ipynb")
			}
			if err := refuseExisting("notebook --out", out); err != nil {
				return err
			}
			err = writeResult("notebook", out, s.out, func(w io.Writer) error {
				return notebook.Write(w, r, notebook.Options{Report: reportPath, Bundles: bundles})
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.out, out)
			return err
		},
	}
}
