package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"pairbench/analyze"
	"pairbench/render"
)

func runCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "collect, analyze and render in one go",
		ArgsUsage: "PLAN",
		Flags: append(append(selectionFlags(), languageFlag()),
			&cli.StringFlag{Name: "out", Usage: "leave bundle/, analysis/ and report/ in `DIR`; it must not exist"},
			&cli.BoolFlag{Name: "aa", Usage: "run the same binary under both labels"},
			&cli.BoolFlag{Name: "inference", Usage: "add intervals and tests to the analysis"},
		),
		Action: func(c *cli.Context) error {
			args, err := words(c, "PLAN")
			if err != nil {
				return err
			}
			langs, err := languages(c)
			if err != nil {
				return err
			}
			out := c.String("out")
			if out == "" {
				out = newResultDir(args[0], time.Now())
			}
			if err := refuseExisting("run --out", out); err != nil {
				return err
			}
			collected, err := collectPlan(c, s, args[0], filepath.Join(out, "bundle"))
			if err != nil {
				return err
			}
			r, err := analyze.Run(c.Context, analyze.Options{
				Bundles: []string{collected.Dir}, Out: filepath.Join(out, "analysis"), Inference: c.Bool("inference"), ToolVersion: version,
			})
			if err != nil {
				return err
			}
			reports := filepath.Join(out, "report")
			if _, err := render.Run(render.Options{Report: r, Out: reports, Langs: langs}); err != nil {
				return err
			}
			if err := render.Terminal(s.out, r, langs[0], terminalWidth); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(s.out, filepath.Join(reports, "report."+langs[0]+".html")); err != nil {
				return err
			}
			return failedProcesses("run", collected)
		},
	}
}
