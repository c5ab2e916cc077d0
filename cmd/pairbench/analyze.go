package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"pairbench/analyze"
	"pairbench/records/bundle"
)

func analyzeCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "analyze",
		Usage:     "compute percentiles, medians, ranges and changes of one or more bundles of a study",
		ArgsUsage: "BUNDLE...",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "the analysis' `DIR`; it must not exist (default: analysis beside the first bundle)"},
			&cli.BoolFlag{Name: "inference", Usage: "add intervals and tests, each where there are enough processes for it"},
			&cli.StringFlag{Name: "floor", Usage: "place each change against the A/A analysis in `DIR`"},
			&cli.StringFlag{Name: "a", Usage: "unpaired: arm A is `BUNDLE:ARM`"},
			&cli.StringFlag{Name: "b", Usage: "unpaired: arm B is `BUNDLE:ARM`"},
		},
		Action: func(c *cli.Context) error {
			o := analyze.Options{Out: c.String("out"), Inference: c.Bool("inference"), Floor: c.String("floor"), ToolVersion: version}
			if c.IsSet("a") != c.IsSet("b") {
				return usagef("analyze: --a and --b go together")
			}
			if c.IsSet("a") {
				if _, err := words(c); err != nil {
					return err
				}
				for _, arm := range []struct {
					flag string
					into **analyze.Arm
				}{{"a", &o.A}, {"b", &o.B}} {
					parsed, err := analyze.ParseArm(c.String(arm.flag))
					if err != nil {
						return usageError{err}
					}
					*arm.into = &parsed
				}
			} else {
				bundles, err := manyWords(c, "BUNDLE")
				if err != nil {
					return err
				}
				o.Bundles = bundles
			}
			first := o.Bundles
			if o.B != nil {
				first = []string{o.B.Bundle}
			}
			if o.Out == "" {
				o.Out = sibling(first[0], "analysis")
			}
			if !isThere(filepath.Join(first[0], filepath.FromSlash(bundle.RunFile))) {
				// What is no bundle is told before where its analysis would be.
				if b, err := bundle.Open(first[0]); err != nil {
					return err
				} else if err := b.Close(); err != nil {
					return err
				}
			}
			if err := refuseExisting("analyze --out", o.Out); err != nil {
				return err
			}
			_, err := analyze.Run(c.Context, o)
			if errors.Is(err, analyze.ErrNotAA) || errors.Is(err, analyze.ErrNoArm) || errors.Is(err, analyze.ErrNothingShared) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.out, o.Out)
			return err
		},
	}
}
