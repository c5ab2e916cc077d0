package analyze

import (
	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/records"
	"pairbench/records/parquetfile"
)

// The files of an analysis. schemas/ documents their columns.
const (
	ReportFile      = "report.json"
	MetricsFile     = "metrics.parquet"
	SummariesFile   = "summaries.parquet"
	ComparisonsFile = "comparisons.parquet"
)

// table builds a Parquet table row by row. A first row of nothing declares the
// columns, so that a table without rows has them too.
type table struct {
	columns  []*parquetfile.Column
	at       map[string]*parquetfile.Column
	declared bool
}

func newTable() *table { return &table{at: map[string]*parquetfile.Column{}} }

// column returns the named column, or one to throw away while the columns are
// being declared.
func (t *table) column(name, unit string, kind parquetfile.ColumnKind, nullable bool) *parquetfile.Column {
	if t.declared {
		return t.at[name]
	}
	c := &parquetfile.Column{Name: name, Unit: unit, Kind: kind}
	if nullable {
		c.Valid = []bool{}
	}
	t.at[name] = c
	t.columns = append(t.columns, c)
	return &parquetfile.Column{}
}

func (t *table) text(name, v string) {
	c := t.column(name, "", parquetfile.StringColumn, false)
	c.Strings = append(c.Strings, v)
}

func (t *table) optionalText(name, v string) {
	c := t.column(name, "", parquetfile.StringColumn, true)
	c.Strings, c.Valid = append(c.Strings, v), append(c.Valid, v != "")
}

func (t *table) integer(name string, v int64) {
	c := t.column(name, "", parquetfile.Int64Column, false)
	c.Ints = append(c.Ints, v)
}

func (t *table) flag(name string, v bool) {
	c := t.column(name, "", parquetfile.BoolColumn, false)
	c.Bools = append(c.Bools, v)
}

func (t *table) optionalFlag(name string, v *bool) {
	c := t.column(name, "", parquetfile.BoolColumn, true)
	c.Bools, c.Valid = append(c.Bools, v != nil && *v), append(c.Valid, v != nil)
}

// number adds the nearest double and, in name_exact, the rational itself.
func (t *table) number(name, unit string, n *report.Number) {
	value := t.column(name, unit, parquetfile.Float64Column, true)
	exact := t.column(name+"_exact", unit, parquetfile.StringColumn, true)
	v, text := 0.0, ""
	if n != nil {
		v, text = n.Float(), n.Rat().RatString()
	}
	value.Floats, value.Valid = append(value.Floats, v), append(value.Valid, n != nil)
	exact.Strings, exact.Valid = append(exact.Strings, text), append(exact.Valid, n != nil)
}

// finish returns the table; one without rows still has its columns.
func (t *table) finish(r *report.Report) parquetfile.Table {
	out := parquetfile.Table{Metadata: map[string]string{"study": r.Study.ID, "tool_version": r.ToolVersion}}
	for _, c := range t.columns {
		out.Columns = append(out.Columns, *c)
	}
	return out
}

// factors are the wide, typed columns f_<name> of a study's factors. A factor
// with values of several kinds is a column of text.
type factors struct {
	names []string
	kinds map[string]records.FactorKind
}

func (st *study) factors() factors {
	f := factors{kinds: map[string]records.FactorKind{}}
	for _, s := range st.suites {
		for _, c := range s.cells {
			for _, factor := range c.Factors {
				kind, ok := f.kinds[factor.Name]
				switch {
				case !ok:
					f.names = append(f.names, factor.Name)
					f.kinds[factor.Name] = factor.Value.Kind
				case kind != factor.Value.Kind:
					f.kinds[factor.Name] = records.FactorString
				}
			}
		}
	}
	return f
}

func (f factors) row(t *table, c *cell) {
	for _, name := range f.names {
		v, ok := c.Factor(name)
		switch name := "f_" + name; f.kinds[name[2:]] {
		case records.FactorInt:
			c := t.column(name, "", parquetfile.Int64Column, true)
			c.Ints, c.Valid = append(c.Ints, v.Int), append(c.Valid, ok)
		case records.FactorFloat:
			c := t.column(name, "", parquetfile.Float64Column, true)
			c.Floats, c.Valid = append(c.Floats, v.Float), append(c.Valid, ok)
		case records.FactorBool:
			c := t.column(name, "", parquetfile.BoolColumn, true)
			c.Bools, c.Valid = append(c.Bools, v.Bool), append(c.Valid, ok)
		default:
			c := t.column(name, "", parquetfile.StringColumn, true)
			text := ""
			if ok {
				text = v.String()
			}
			c.Strings, c.Valid = append(c.Strings, text), append(c.Valid, ok)
		}
	}
}

// metricsTable has a row for each process and metric that has a value.
func (st *study) metricsTable(r *report.Report) parquetfile.Table {
	t, factors := newTable(), st.factors()
	row := func(c *cell, p *report.Process, m report.Metric, value *report.Number) {
		t.text("suite", c.Suite)
		t.text("cell_id", c.CellID)
		factors.row(t, c)
		t.text("bundle", r.Bundles[p.Bundle].Identity)
		t.integer("process_no", int64(p.ProcessNo))
		t.text("process_id", p.ProcessID)
		t.text("arm", armName(r, p.Side))
		t.text("side", string(p.Side))
		t.integer("round", int64(p.Round))
		t.integer("slot", int64(p.Slot))
		t.text("outcome", string(p.Outcome))
		t.flag("in_median", p.Outcome == records.OutcomeOK)
		t.text("metric", m.ID)
		t.text("unit", m.Unit)
		t.number("value", "", value)
	}
	row(&cell{}, &report.Process{}, report.Metric{}, nil)
	t.declared = true
	for i := range r.Suites {
		s := &r.Suites[i]
		for ci := range s.Cells {
			for pi := range s.Cells[ci].Processes {
				p := &s.Cells[ci].Processes[pi]
				for m, value := range p.Values {
					if value != nil {
						row(st.suites[i].cells[ci], p, s.Metrics[m], value)
					}
				}
			}
		}
	}
	return t.finish(r)
}

func armName(r *report.Report, side records.Side) string {
	if side == records.SideA {
		return r.Study.Arms[0].Name
	}
	return r.Study.Arms[1].Name
}

// eachComparison calls row for every cell and metric, after a first call that
// declares the columns.
func (st *study) eachComparison(r *report.Report, t *table, row func(*cell, report.Metric, report.Comparison)) parquetfile.Table {
	row(&cell{}, report.Metric{}, report.Comparison{})
	t.declared = true
	for i := range r.Suites {
		s := &r.Suites[i]
		for ci := range s.Cells {
			for m, c := range s.Cells[ci].Comparisons {
				row(st.suites[i].cells[ci], s.Metrics[m], c)
			}
		}
	}
	return t.finish(r)
}

// summariesTable has a row for each cell, metric and side.
func (st *study) summariesTable(r *report.Report) parquetfile.Table {
	t, factors := newTable(), st.factors()
	return st.eachComparison(r, t, func(c *cell, m report.Metric, comparison report.Comparison) {
		for k, arm := range []report.ArmSummary{comparison.A, comparison.B} {
			if k == 1 && !t.declared {
				continue
			}
			t.text("suite", c.Suite)
			t.text("cell_id", c.CellID)
			factors.row(t, c)
			t.text("metric", m.ID)
			t.text("unit", m.Unit)
			t.text("better", m.Better)
			t.text("arm", armName(r, records.Sides[k]))
			t.text("side", string(records.Sides[k]))
			t.integer("n", int64(arm.N))
			t.number("median", "", arm.Median)
			t.number("min", "", arm.Min)
			t.number("max", "", arm.Max)
		}
	})
}

// comparisonsTable has a row for each cell and metric.
func (st *study) comparisonsTable(r *report.Report) parquetfile.Table {
	t, factors := newTable(), st.factors()
	return st.eachComparison(r, t, func(c *cell, m report.Metric, comparison report.Comparison) {
		t.text("suite", c.Suite)
		t.text("cell_id", c.CellID)
		factors.row(t, c)
		t.text("metric", m.ID)
		t.text("unit", m.Unit)
		t.text("better", m.Better)
		for k, arm := range []report.ArmSummary{comparison.A, comparison.B} {
			side := []string{"_a", "_b"}[k]
			t.integer("n"+side, int64(arm.N))
			t.number("median"+side, "", arm.Median)
			t.number("min"+side, "", arm.Min)
			t.number("max"+side, "", arm.Max)
		}
		t.number("change_pct", "percent", comparison.ChangePct)
		t.optionalText("change_reason", comparison.ChangeReason)
		t.optionalFlag("overlap", comparison.Overlap)
		t.optionalText("overlap_reason", comparison.OverlapReason)
		t.number("disjoint_by_chance", "", chance(comparison))
	})
}

// chance is the probability that identical arms would have disjoint ranges.
func chance(c report.Comparison) *report.Number {
	if c.Overlap == nil {
		return nil
	}
	n := report.NewNumber(stat.DisjointProbability(c.A.N, c.B.N))
	return &n
}
