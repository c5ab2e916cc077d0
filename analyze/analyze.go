package analyze

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pairbench/analyze/report"
	"pairbench/records/atomicfile"
	"pairbench/records/parquetfile"
)

// Options say what to analyse and where to leave the result.
type Options struct {
	// Bundles are directories of sealed bundles of one plan. They stay empty
	// when A and B are given instead.
	Bundles []string
	// A and B compare an arm of one bundle with an arm of another.
	A, B *Arm
	// Out is the directory that the analysis becomes; nothing may be there yet.
	// With "" nothing is written.
	Out string
	// Inference adds intervals and tests.
	Inference bool
	// Floor is an A/A analysis against whose changes each change is placed.
	Floor string
	// Workers read samples side by side; 0 means 2.
	Workers int
	// ToolVersion stands in the report.
	ToolVersion string
}

const defaultWorkers = 2

// Run analyses bundles and writes the analysis. An error of a damaged or
// contradictory bundle wraps ErrInvalid, or the error of package bundle; one of
// bundles that do not belong together wraps ErrNotJoinable.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	var inputs []*input
	paths := o.Bundles
	if o.A != nil && o.B != nil {
		paths = []string{o.A.Bundle, o.B.Bundle}
	}
	if len(paths) == 0 {
		return nil, errors.New("analyze: no bundle given")
	}
	if o.Out != "" {
		if _, err := os.Lstat(o.Out); err == nil {
			return nil, fmt.Errorf("analyze: %s is already there", o.Out)
		}
	}
	for _, path := range paths {
		in, closeBundle, err := openBundle(path)
		if err != nil {
			return nil, err
		}
		defer closeBundle() // only reading: nothing is lost when it fails
		inputs = append(inputs, in)
	}
	var st *study
	var err error
	if o.A != nil && o.B != nil {
		st, err = separate(inputs[0], inputs[1], o.A.Name, o.B.Name)
	} else {
		st, err = join(inputs)
	}
	if err != nil {
		return nil, err
	}
	return st.run(ctx, o)
}

// run computes the report of a study and writes the analysis.
func (st *study) run(ctx context.Context, o Options) (*report.Report, error) {
	workers := o.Workers
	if workers <= 0 {
		workers = defaultWorkers
	}
	if err := st.measure(ctx, workers); err != nil {
		return nil, err
	}
	r := st.build(o.ToolVersion)
	r.Notes = st.reportNotes(r)
	if o.Inference {
		if err := st.infer(r); err != nil {
			return nil, err
		}
	}
	if o.Floor != "" {
		aa, err := readFloor(o.Floor)
		if err != nil {
			return nil, err
		}
		applyFloor(r, aa)
	}
	// The tables hold every metric, the report those that its plan shows.
	tables := map[string]parquetfile.Table{
		MetricsFile: st.metricsTable(r), SummariesFile: st.summariesTable(r), ComparisonsFile: st.comparisonsTable(r),
	}
	st.show(r)
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("analyze: %w", err)
	}
	if o.Out == "" {
		return r, nil
	}
	return r, write(o.Out, r, tables)
}

// write leaves the analysis at out, whole or not at all.
func write(out string, r *report.Report, tables map[string]parquetfile.Table) error {
	var text bytes.Buffer
	if err := report.Encode(&text, r); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	fsys := atomicfile.OS{}
	err := atomicfile.Dir(fsys, out, func(dir string) error {
		for _, name := range []string{MetricsFile, SummariesFile, ComparisonsFile} {
			t := tables[name]
			err := atomicfile.Write(fsys, filepath.Join(dir, name), 0o644, func(w io.Writer) error {
				return parquetfile.WriteTable(w, t)
			})
			if err != nil {
				return err
			}
		}
		return atomicfile.WriteBytes(fsys, filepath.Join(dir, ReportFile), 0o644, text.Bytes())
	})
	if err != nil {
		return fmt.Errorf("analyze %s: %w", out, err)
	}
	return nil
}
