package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"pairbench/records/bundle"
)

func compactCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "compact",
		Usage:     "merge a bundle's sample files into a few, page by page, in a new bundle",
		ArgsUsage: "BUNDLE",
		Flags:     []cli.Flag{&cli.StringFlag{Name: "out", Usage: "the new bundle's `DIR`; it must not exist (default: BUNDLE.compact)"}},
		Action: func(c *cli.Context) error {
			args, err := words(c, "BUNDLE")
			if err != nil {
				return err
			}
			out := c.String("out")
			if out == "" {
				out = sibling(args[0], baseName(args[0])+".compact")
			}
			if err := refuseExisting("compact --out", out); err != nil {
				return err
			}
			identity, err := bundle.Compact(args[0], out)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "%s\nidentity %s\n", out, identity)
			return err
		},
	}
}
