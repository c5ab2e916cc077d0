package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"pairbench/schemas"
)

func schemaCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "schema",
		Usage:     "print a schema, the column dictionary or the analysis in SQL; without NAME list them",
		ArgsUsage: "[NAME]",
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				_, err := fmt.Fprintln(s.out, strings.Join(documents(), "\n"))
				return err
			}
			args, err := words(c, "NAME")
			if err != nil {
				return err
			}
			text, ok := schemas.Lookup(args[0])
			if !ok {
				text, ok = schemas.SQL(args[0])
			}
			if !ok {
				return usagef("schema: found %q, expected one of %s", args[0], strings.Join(documents(), ", "))
			}
			_, err = s.out.Write(text)
			return err
		},
	}
}

// documents are the names that schema prints, those of the SQL last.
func documents() []string { return append(schemas.Names(), schemas.SQLNames()...) }
