package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"pairbench/records"
)

// MaxBytes bounds what Decode reads: some 100,000 processes with their output.
const MaxBytes = 1 << 30

// maxObjects bounds the memory that a text takes: an empty object is two bytes of
// JSON, and a hundred times as much once it is a process.
const maxObjects = 4_000_000

// Encode writes r as report.json: the same report gives the same bytes. It
// fails for a report that Decode would refuse.
func Encode(w io.Writer, r *Report) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", " ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return nil
}

// objects counts the objects of a JSON text.
func objects(text []byte) int {
	n, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && c == '{':
			n++
		}
	}
	return n
}

// Decode reads one report and nothing after it, up to MaxBytes. What it
// returns is valid in the sense of Validate, so that a reader may index it
// without looking. Members that it does not know are ignored: a newer tool of
// the same schema version may have added them.
func Decode(r io.Reader) (*Report, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("decode report: %w", err)
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("decode report: larger than %d bytes", MaxBytes)
	}
	if n := objects(text); n > maxObjects {
		return nil, fmt.Errorf("decode report: %d objects, at most %d are read", n, maxObjects)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	var rep Report
	if err := dec.Decode(&rep); err != nil {
		return nil, fmt.Errorf("decode report: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("decode report: text after the end of the report")
	}
	if err := rep.Validate(); err != nil {
		return nil, fmt.Errorf("decode report: %w", err)
	}
	return &rep, nil
}

// Validate checks what the types cannot say: the schema version, sides, that
// lists which run beside each other have one length, and that indices point at
// something. It does not recompute numbers.
func (r *Report) Validate() error {
	if r.SchemaVersion < 1 || r.SchemaVersion > SchemaVersion {
		return fmt.Errorf("schema_version is %d, this version reads 1 to %d", r.SchemaVersion, SchemaVersion)
	}
	for i, arm := range r.Study.Arms {
		if arm.Side != records.Sides[i] {
			return fmt.Errorf("study.arms[%d]: side is %q, expected %q", i, arm.Side, records.Sides[i])
		}
	}
	for i, host := range r.Scope.Hosts {
		if host.Bundle < 0 || host.Bundle >= len(r.Bundles) {
			return fmt.Errorf("scope.hosts[%d]: bundle is %d of %d", i, host.Bundle, len(r.Bundles))
		}
	}
	for i := range r.Suites {
		if err := r.Suites[i].validate(len(r.Bundles)); err != nil {
			return fmt.Errorf("suite %q: %w", r.Suites[i].ID, err)
		}
	}
	return nil
}

func (s *Suite) validate(bundles int) error {
	if len(s.Summaries) != len(s.Metrics) {
		return fmt.Errorf("%d summaries for %d metrics", len(s.Summaries), len(s.Metrics))
	}
	for i, summary := range s.Summaries {
		if summary.Metric != s.Metrics[i].ID {
			return fmt.Errorf("summary %d is of %q, expected %q", i, summary.Metric, s.Metrics[i].ID)
		}
	}
	for i := range s.Cells {
		if err := s.Cells[i].validate(s, bundles); err != nil {
			return fmt.Errorf("cell %q: %w", s.Cells[i].ID, err)
		}
	}
	for i, panel := range s.Panels {
		if len(panel.MedianChangePct) != len(s.Metrics) {
			return fmt.Errorf("panel %d: %d median changes for %d metrics", i, len(panel.MedianChangePct), len(s.Metrics))
		}
		for _, cell := range panel.Cells {
			if cell < 0 || cell >= len(s.Cells) {
				return fmt.Errorf("panel %d: cell is %d of %d", i, cell, len(s.Cells))
			}
		}
	}
	return nil
}

func (c *Cell) validate(s *Suite, bundles int) error {
	if len(c.Factors) != len(s.Factors) {
		return fmt.Errorf("%d factors, expected %d", len(c.Factors), len(s.Factors))
	}
	for i, factor := range c.Factors {
		if factor.Name != s.Factors[i].Name {
			return fmt.Errorf("factor %d is %q, expected %q", i, factor.Name, s.Factors[i].Name)
		}
	}
	if len(c.Comparisons) != len(s.Metrics) {
		return fmt.Errorf("%d comparisons for %d metrics", len(c.Comparisons), len(s.Metrics))
	}
	for i := range c.Comparisons {
		cmp := &c.Comparisons[i]
		if cmp.Metric != s.Metrics[i].ID {
			return fmt.Errorf("comparison %d is of %q, expected %q", i, cmp.Metric, s.Metrics[i].ID)
		}
		for _, arm := range []ArmSummary{cmp.A, cmp.B} {
			if err := arm.validate(); err != nil {
				return fmt.Errorf("%s: %w", cmp.Metric, err)
			}
		}
	}
	for _, p := range c.Processes {
		if len(p.Values) != len(s.Metrics) {
			return fmt.Errorf("process %d: %d values for %d metrics", p.ProcessNo, len(p.Values), len(s.Metrics))
		}
		if !p.Side.Valid() {
			return fmt.Errorf("process %d: side is %q", p.ProcessNo, p.Side)
		}
		if p.Bundle < 0 || p.Bundle >= bundles {
			return fmt.Errorf("process %d: bundle is %d of %d", p.ProcessNo, p.Bundle, bundles)
		}
		if len(p.Latency) != 0 && len(p.Latency) != len(DistributionPermyriads) {
			return fmt.Errorf("process %d: latency has %d values, expected %d", p.ProcessNo, len(p.Latency), len(DistributionPermyriads))
		}
	}
	return nil
}

func (a ArmSummary) validate() error {
	present := a.Median != nil && a.Min != nil && a.Max != nil
	absent := a.Median == nil && a.Min == nil && a.Max == nil
	if a.N < 0 || (a.N == 0 && !absent) || (a.N > 0 && !present) {
		return fmt.Errorf("median, min and max must be there exactly when n is positive; n is %d", a.N)
	}
	for _, n := range []*Number{a.Median, a.Min, a.Max} {
		if n != nil && n.Rat() == nil {
			return errors.New("a number has no value")
		}
	}
	return nil
}
