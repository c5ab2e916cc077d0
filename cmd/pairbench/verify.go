package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"pairbench/records/bundle"
)

func verifyCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check a bundle: every hash in both directions, schema version, counts",
		ArgsUsage: "BUNDLE",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print the findings as JSON"}},
		Action: func(c *cli.Context) error {
			args, err := words(c, "BUNDLE")
			if err != nil {
				return err
			}
			found, err := bundle.Verify(args[0])
			if err != nil {
				return err
			}
			if c.Bool("json") {
				if err := printJSON(s.out, found); err != nil {
					return err
				}
			} else {
				for _, f := range found.Findings {
					if _, err := fmt.Fprintln(s.out, visible(f.String())); err != nil {
						return err
					}
				}
			}
			if n := len(found.Findings); n > 0 {
				return outcomeError{exitIntegrity, fmt.Sprintf("verify %s: %d findings", visible(args[0]), n)}
			}
			if !c.Bool("json") {
				_, err = fmt.Fprintf(s.out, "ok  %d files, %d bytes, %d processes, %d samples\nidentity %s\n",
					found.Files, found.Bytes, found.Processes, found.Samples, found.Identity)
			}
			return err
		},
	}
}
