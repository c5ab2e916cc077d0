package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"pairbench/collect/importer"
	"pairbench/collect/importer/result"
	"pairbench/records/atomicfile"
)

func importCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "make a bundle of results that another tool left",
		ArgsUsage: "--format FORMAT --out BUNDLE (FILE... | --a FILE --b FILE)",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "`FORMAT` of the files: " + importer.FormatNames()},
			&cli.GenericFlag{Name: "a", Value: new(fileList), Usage: "`FILE` with results of arm A, or FILE:NAME for one of them; may be repeated, a file more is a round more"},
			&cli.GenericFlag{Name: "b", Value: new(fileList), Usage: "`FILE`, or FILE:NAME, with results of arm B"},
			&cli.StringFlag{Name: "plan", Usage: "take cells, arms and words from `PLAN` (csv)"},
			&cli.StringFlag{Name: "out", Usage: "the bundle's `DIR`; it must not exist"},
			&cli.StringFlag{Name: "suite", Usage: "the suite's `ID` where the files do not say"},
			&cli.StringFlag{Name: "study", Value: "imported", Usage: "the study's `ID` without a plan"},
			&cli.StringFlag{Name: "profile", Value: "database", Usage: "without a plan, write numbers by `PROFILE`: database, native or release"},
		},
		Action: func(c *cli.Context) error { return runImport(c, s) },
	}
}

// importMemory is from where on memory is rather cleaned than taken.
const importMemory = 320 << 20

// fileList is a flag that may be repeated; a comma belongs to the file's name.
type fileList []string

func (l *fileList) Set(path string) error {
	*l = append(*l, path)
	return nil
}

func (l *fileList) String() string { return strings.Join(*l, " ") }

func runImport(c *cli.Context, s streams) error {
	for _, required := range []string{"format", "out"} {
		if c.String(required) == "" {
			return usagef("import: --%s is missing; formats are %s", required, importer.FormatNames())
		}
	}
	format, ok := importer.ByName(c.String("format"))
	if !ok {
		return usagef("import --format: found %q, expected one of %s", c.String("format"), importer.FormatNames())
	}
	arms, err := importFiles(c, format)
	if err != nil {
		return err
	}
	// The files are in memory whole: garbage is not let pile up beside them.
	debug.SetMemoryLimit(importMemory)
	out := c.String("out")
	if err := refuseExisting("import --out", out); err != nil {
		return err
	}
	o := importer.Options{Format: format.Name, Study: c.String("study"), Profile: c.String("profile"), ToolVersion: version}
	if c.IsSet("plan") {
		if o.Plan, err = loadPlan(c, c.String("plan")); err != nil {
			return err
		}
	}
	table, sources, err := readImport(format, arms, c.String("suite"))
	if err != nil {
		return err
	}
	in, err := importer.Build(sources[0].Name, table, o)
	if errors.Is(err, importer.ErrProfile) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	for _, warning := range table.Warnings {
		fmt.Fprintf(s.err, "import: %s\n", visible(warning))
	}
	removeEmpty, err := makeParent(out)
	if err != nil {
		return fmt.Errorf("import --out %s: %w", visible(out), err)
	}
	identity, err := importer.Write(c.Context, atomicfile.OS{}, out, in, sources)
	if err != nil {
		removeEmpty()
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s\nidentity %s\n", out, identity)
	return err
}

// importFiles returns the files of the two arms; those of a format that holds
// both arms are all in the first.
func importFiles(c *cli.Context, format importer.Format) (arms [2][]string, err error) {
	for i, name := range []string{"a", "b"} {
		arms[i] = *c.Generic(name).(*fileList)
	}
	given := len(arms[0])+len(arms[1]) > 0
	switch {
	case format.BothArms && given:
		return arms, usagef("import --format %s: found --a or --b, but such a file holds both arms; name it as FILE", format.Name)
	case format.BothArms:
		arms[0], err = manyWords(c, "FILE")
		return arms, err
	case c.NArg() > 0:
		return arms, usagef("import --format %s: found %q, but such a file holds one arm; use --a FILE --b FILE", format.Name, c.Args().First())
	case len(arms[0]) == 0 || len(arms[1]) == 0:
		return arms, usagef("import --format %s: --a FILE and --b FILE are needed", format.Name)
	}
	return arms, nil
}

// readImport reads the files of both arms. The sources are what belongs into
// the bundle.
func readImport(format importer.Format, arms [2][]string, suite string) (result.Table, []result.Source, error) {
	var sources [2][]result.Source
	var tables [2][]result.Table
	type read struct {
		table result.Table
		src   result.Source
	}
	known := map[string]*read{}
	var all []result.Source // each file once
	for i, words := range arms {
		for _, word := range words {
			file, name := word, ""
			if !format.BothArms {
				file, name = pickedFrom(word)
			}
			if known[file] == nil {
				data, err := readBounded(file, importer.MaxBytes)
				if err != nil {
					return result.Table{}, nil, err
				}
				table, src, err := format.Read(result.Source{Name: visible(file), Data: data}, suite)
				if err != nil {
					return result.Table{}, nil, err
				}
				known[file] = &read{table, src}
				all = append(all, src)
			}
			table, err := known[file].table, error(nil)
			if name != "" {
				if table, err = importer.Pick(table, visible(file), name); err != nil {
					return result.Table{}, nil, usageError{err}
				}
			}
			known[file].table.Warnings = nil // said once
			sources[i] = append(sources[i], known[file].src)
			tables[i] = append(tables[i], table)
		}
	}
	if !format.BothArms {
		table, err := importer.Pair(sources[0], sources[1], tables[0], tables[1])
		if err != nil {
			return result.Table{}, nil, usageError{err}
		}
		return table, all, nil
	}
	var table result.Table
	for _, part := range tables[0] {
		table.Observations = append(table.Observations, part.Observations...)
		table.Warnings = append(table.Warnings, part.Warnings...)
	}
	return table, all, nil
}

// pickedFrom reads FILE or FILE:NAME. Colons belong to a file's name where there
// is such a file, and to NAME after the first one that ends a file's name.
func pickedFrom(word string) (file, name string) {
	if _, err := os.Stat(word); err == nil {
		return word, ""
	}
	for i, r := range word {
		if r == ':' && i+1 < len(word) {
			if _, err := os.Stat(word[:i]); err == nil {
				return word[:i], word[i+1:]
			}
		}
	}
	return word, ""
}

// readBounded reads a file of at most so many bytes, and one more of a larger
// one, so that the reader can say that it is too large.
func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("import: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", visible(path), err)
	}
	if info.Size() > limit {
		return nil, &result.Error{File: visible(path), Problem: fmt.Sprintf("found %d bytes, expected at most %d", info.Size(), limit)}
	}
	// Room for all of it at once, so that growing does not take it twice.
	var data bytes.Buffer
	data.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, fmt.Errorf("import %s: %w", visible(path), err)
	}
	return data.Bytes(), nil
}
