package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"pairbench/analyze"
	"pairbench/analyze/hdr"
	"pairbench/analyze/wide"
	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bag"
	"pairbench/records/bundle"
	"pairbench/records/parquetfile"
	"pairbench/render/benchstat"
	rendercsv "pairbench/render/csv"
)

func exportCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write an analysis or a bundle for other tools",
		ArgsUsage: "ANALYSIS|BUNDLE",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "`FORMAT`: benchstat, csv, arrow (a row a process) or hdr (a histogram a process; needs a bundle)"},
			&cli.BoolFlag{Name: "samples", Usage: "with arrow: every raw sample instead, a batch a process; needs a bundle"},
			&cli.StringFlag{Name: "out", Usage: "write to `FILE` (default: standard output)"},
		},
		Action: func(c *cli.Context) error { return runExport(c, s) },
	}
}

func runExport(c *cli.Context, s streams) error {
	args, err := words(c, "ANALYSIS|BUNDLE")
	if err != nil {
		return err
	}
	dir, format := args[0], c.String("format")
	if c.Bool("samples") && format != "arrow" {
		return usagef("export: --samples goes with --format arrow")
	}
	out := c.String("out")
	if out != "" {
		if err := refuseExisting("export --out", out); err != nil {
			return err
		}
	}
	var write func(io.Writer) error
	switch {
	case format == "hdr":
		write, err = exportSamples(dir, writeHDR)
	case format == "arrow" && c.Bool("samples"):
		write, err = exportSamples(dir, writeArrowSamples)
	case format == "benchstat" || format == "csv" || format == "arrow":
		write, err = exportAnalysis(c, dir, format)
	case format == "":
		return usagef("export: --format is missing; formats are benchstat, csv, arrow, hdr")
	default:
		return usagef("export --format: found %q, expected benchstat, csv, arrow or hdr", format)
	}
	if err != nil {
		return err
	}
	if out == "" {
		return write(s.out)
	}
	removeEmpty, err := makeParent(out)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(atomicfile.OS{}, out, 0o644, write); err != nil {
		removeEmpty()
		return err
	}
	return nil
}

func isAnalysis(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, analyze.ReportFile))
	return err == nil
}

// exportAnalysis reads an analysis; a bundle is analysed first, in a place of
// its own.
func exportAnalysis(c *cli.Context, dir, format string) (write func(io.Writer) error, err error) {
	if !isAnalysis(dir) {
		temp, err := os.MkdirTemp("", "pairbench-export-")
		if err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		defer os.RemoveAll(temp)
		bundleDir := dir
		dir = filepath.Join(temp, "analysis")
		if _, err := analyze.Run(c.Context, analyze.Options{Bundles: []string{bundleDir}, Out: dir, ToolVersion: version}); err != nil {
			return nil, err
		}
	}
	if format == "benchstat" {
		r, err := readReport(dir)
		if err != nil {
			return nil, err
		}
		return func(w io.Writer) error { return benchstat.Write(w, r) }, nil
	}
	table, err := readMetrics(filepath.Join(dir, analyze.MetricsFile))
	if err != nil {
		return nil, err
	}
	if format == "csv" {
		return func(w io.Writer) error { return writeCSV(w, table) }, nil
	}
	return func(w io.Writer) error {
		return parquetfile.WriteArrowFile(w, func(yield func(parquetfile.Table, error) bool) { yield(table, nil) })
	}, nil
}

// readMetrics reads the metrics of an analysis, a row for each process.
func readMetrics(path string) (parquetfile.Table, error) {
	d, err := bag.OpenDir(filepath.Dir(path))
	if err != nil {
		return parquetfile.Table{}, fmt.Errorf("export: %w", err)
	}
	defer d.Close()
	f, size, err := d.Open(filepath.Base(path))
	if err != nil {
		return parquetfile.Table{}, fmt.Errorf("export %s: %w", visible(path), err)
	}
	defer f.Close()
	table, err := parquetfile.ReadTable(f, size)
	if err == nil {
		table, err = wide.ByProcess(table)
	}
	if err != nil {
		return parquetfile.Table{}, fmt.Errorf("export %s: %w", visible(path), err)
	}
	return table, nil
}

// writeCSV writes absent values as empty fields, and no text that a spreadsheet
// would run.
func writeCSV(dst io.Writer, t parquetfile.Table) error {
	w := csv.NewWriter(dst)
	row := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		row[i] = rendercsv.Guard(c.Name)
	}
	if err := w.Write(row); err != nil {
		return err
	}
	for r := range t.Rows() {
		for i, c := range t.Columns {
			row[i] = csvField(c, r)
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func csvField(c parquetfile.Column, row int) string {
	if !c.Present(row) {
		return ""
	}
	switch c.Kind {
	case parquetfile.Int64Column:
		return strconv.FormatInt(c.Ints[row], 10)
	case parquetfile.Float64Column:
		return strconv.FormatFloat(c.Floats[row], 'f', -1, 64)
	case parquetfile.BoolColumn:
		return strconv.FormatBool(c.Bools[row])
	default:
		return rendercsv.Guard(c.Strings[row])
	}
}

// exportSamples opens a bundle that has samples. The bundle stays open until it
// is written.
func exportSamples(dir string, write func(io.Writer, *bundle.Bundle, []records.Process) error) (func(io.Writer) error, error) {
	if isAnalysis(dir) {
		return nil, usagef("export %s: is an analysis, which holds no samples; name its bundle", visible(dir))
	}
	b, err := bundle.Open(dir)
	if err != nil {
		return nil, err
	}
	processes, err := b.Processes()
	if err == nil && len(b.ProcessesWithSamples()) == 0 {
		err = usagef("export %s: the bundle holds no raw samples", visible(dir))
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return func(w io.Writer) error { return errors.Join(write(w, b, processes), b.Close()) }, nil
}

// writeArrowSamples writes all samples, a batch for each process.
func writeArrowSamples(w io.Writer, b *bundle.Bundle, processes []records.Process) error {
	var tables iter.Seq2[parquetfile.Table, error] = func(yield func(parquetfile.Table, error) bool) {
		for _, p := range processes {
			samples, ok, err := b.LoadSamples(p.ProcessNo)
			if !ok && err == nil {
				continue
			}
			if !yield(samplesTable(samples), err) || err != nil {
				return
			}
		}
	}
	return parquetfile.WriteArrowFile(w, tables)
}

// samplesTable has the same columns for every process: a schedule is absent
// where a process had none.
func samplesTable(s records.Samples) parquetfile.Table {
	scheduled := parquetfile.Column{Name: "scheduled_ns", Unit: "ns", Kind: parquetfile.Int64Column, Ints: s.ScheduledNs, Valid: make([]bool, s.Len())}
	for i := range s.ScheduledNs {
		scheduled.Valid[i] = true
	}
	if s.ScheduledNs == nil {
		scheduled.Ints = make([]int64, s.Len())
	}
	s.ScheduledNs = nil
	t := parquetfile.SamplesTable(s)
	t.Columns = append(t.Columns, scheduled)
	return t
}

// hdrFigures is what histogram tools use by default.
const hdrFigures = 3

// writeHDR writes a line for each process that has samples, failed ones too:
// the tag says which.
func writeHDR(w io.Writer, b *bundle.Bundle, processes []records.Process) error {
	base := time.Unix(0, 0)
	for _, p := range processes {
		if p.StartedUnixNs != nil && (base.UnixNano() == 0 || *p.StartedUnixNs < base.UnixNano()) {
			base = time.Unix(0, *p.StartedUnixNs)
		}
	}
	log, err := hdr.NewLog(w, base)
	if err != nil {
		return err
	}
	for _, p := range processes {
		s, ok, err := b.Samples(p.ProcessNo)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		h, err := hdr.New(hdrFigures)
		if err == nil {
			err = s.EachLatency(h.Record)
		}
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
		tag := p.ProcessID
		if p.Outcome != records.OutcomeOK {
			tag += "/" + string(p.Outcome)
		}
		start := base
		if p.StartedUnixNs != nil {
			start = time.Unix(0, *p.StartedUnixNs)
		}
		length := time.Duration(0)
		if p.ElapsedNs != nil {
			length = time.Duration(*p.ElapsedNs)
		}
		if err := log.Write(tag, start, length, h); err != nil {
			return err
		}
	}
	return nil
}
