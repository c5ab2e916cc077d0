package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"pairbench/collect/importer"
	"pairbench/records/atomicfile"
)

func importCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "make a bundle of results that another tool left",
		ArgsUsage: "FILE...",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "`FORMAT` of the files: csv"},
			&cli.StringFlag{Name: "plan", Usage: "take cells, arms and words from `PLAN`"},
			&cli.StringFlag{Name: "out", Usage: "the bundle's `DIR`; it must not exist"},
			&cli.StringFlag{Name: "suite", Usage: "the suite's `ID` where the files do not say"},
			&cli.StringFlag{Name: "study", Value: "imported", Usage: "the study's `ID` without a plan"},
			&cli.StringFlag{Name: "profile", Value: "database", Usage: "without a plan: database, native or release"},
		},
		Action: func(c *cli.Context) error {
			files, err := manyWords(c, "FILE")
			if err != nil {
				return err
			}
			for _, required := range []string{"format", "out"} {
				if c.String(required) == "" {
					return usagef("import: --%s is missing", required)
				}
			}
			if err := refuseExisting("import", c.String("out")); err != nil {
				return err
			}
			o := importer.Options{Format: c.String("format"), Study: c.String("study"), Profile: c.String("profile"), ToolVersion: version}
			if c.IsSet("plan") {
				if o.Plan, err = loadPlan(c, c.String("plan")); err != nil {
					return err
				}
			}
			if o.Format != "csv" {
				return usagef("import --format: found %q, expected csv", o.Format)
			}
			var table importer.Table
			var sources []importer.Source
			for _, file := range files {
				data, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				src := importer.Source{Name: visible(file), Data: data}
				part, err := importer.CSV(src, c.String("suite"))
				if err != nil {
					return err
				}
				table.Observations = append(table.Observations, part.Observations...)
				sources = append(sources, src)
			}
			in, err := importer.Build(visible(files[0]), table, o)
			if err != nil {
				return err
			}
			if err := makeParent(c.String("out")); err != nil {
				return err
			}
			identity, err := importer.Write(atomicfile.OS{}, c.String("out"), in, sources)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "%s\nidentity %s\n", c.String("out"), identity)
			return err
		},
	}
}
