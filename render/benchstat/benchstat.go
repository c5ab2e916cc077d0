// Package benchstat writes a report's processes as benchmark results in the
// text format of Go, for benchstat and the tools around it.
package benchstat

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"pairbench/analyze/report"
	"pairbench/records"
)

// units are what a metric is called in the text: benchstat takes the last word
// of a unit for what is counted and multiplies ns up to seconds.
var units = map[string]string{
	"per_sec": "ops/s", "pct": "pct", "ns": "ns", "bytes": "B",
}

// Write writes each process whose outcome is ok as one result: the cell is its
// name, the arm the configuration key "arm", each metric a value with its unit.
// Compare the arms with `benchstat -col arm FILE`.
func Write(w io.Writer, r *report.Report) error {
	p := &printer{w: w}
	p.line("study: %s", oneLine(r.Study.ID))
	p.unitLines(r)
	for side, arm := range r.Study.Arms {
		p.line("")
		p.line("arm: %s", oneLine(arm.Name))
		for i := range r.Suites {
			s := &r.Suites[i]
			for c := range s.Cells {
				p.cell(s, &s.Cells[c], records.Sides[side])
			}
		}
	}
	return p.err
}

// printer keeps the first error of its writer.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// unitLines say which direction of each unit is better, where there is one.
func (p *printer) unitLines(r *report.Report) {
	said := map[string]bool{}
	for _, s := range r.Suites {
		for _, m := range s.Metrics {
			unit := Unit(m)
			if !said[unit] && m.Better != "neither" {
				p.line("Unit %s better=%s", unit, m.Better)
			}
			said[unit] = true
		}
	}
}

func (p *printer) cell(s *report.Suite, c *report.Cell, side records.Side) {
	name := Name(s, c)
	for i := range c.Processes {
		process := &c.Processes[i]
		if process.Side != side || process.Outcome != records.OutcomeOK {
			continue
		}
		operations := int64(1)
		if process.MeasuredOperations != nil {
			operations = max(1, *process.MeasuredOperations)
		}
		line := fmt.Sprintf("%s\t%d", name, operations)
		some := false
		for m, value := range process.Values {
			if value != nil {
				line += "\t" + strconv.FormatFloat(value.Float(), 'f', -1, 64) + " " + Unit(s.Metrics[m])
				some = true
			}
		}
		if some {
			p.line("%s", line)
		}
	}
}

// Unit is what a metric's values are called: latency_p50-ns.
func Unit(m report.Metric) string {
	unit, ok := units[m.Unit]
	if !ok {
		unit = word(m.Unit)
	}
	return word(m.ID) + "-" + unit
}

// Name is the benchmark's name of a cell: BenchmarkRedis_tcp/payload_bytes=64.
// Go wants no lower case letter behind Benchmark, and no spaces.
func Name(s *report.Suite, c *report.Cell) string {
	suite := []rune(word(s.ID))
	if len(suite) > 0 {
		suite[0] = unicode.ToUpper(suite[0])
		if unicode.IsLower(suite[0]) {
			suite = append([]rune{'_'}, suite...)
		}
	}
	var name strings.Builder
	name.WriteString("Benchmark" + string(suite))
	for _, f := range c.Factors {
		name.WriteString("/" + word(f.Name) + "=" + word(f.Value))
	}
	if len(c.Factors) == 0 && len(s.Cells) > 1 {
		name.WriteString("/" + word(c.ID))
	}
	return name.String()
}

// word replaces what would end a word or start a part of a name.
func word(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || unicode.IsSpace(r) || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, text)
}

// oneLine keeps a configuration value on its line.
func oneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text))
}
