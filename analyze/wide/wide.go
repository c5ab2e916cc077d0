// Package wide turns the metrics of an analysis, a row for each process and
// metric, into a table with a row for each process and a column for each metric
// that carries the metric's unit: throughput_per_sec, cpu_pct, latency_p50_ns.
package wide

import (
	"fmt"

	"pairbench/analyze/metric"
	"pairbench/records/parquetfile"
)

// perMetric are the columns of the metrics table that differ between the rows
// of one process.
var perMetric = map[string]bool{"metric": true, "unit": true, "value": true, "value_exact": true}

// ByProcess makes one row of all metrics of a process, in the order of the rows;
// metrics stand in the order of metric.All. It fails for a table that is not a
// metrics table.
func ByProcess(long parquetfile.Table) (parquetfile.Table, error) {
	for name, kind := range map[string]parquetfile.ColumnKind{
		"bundle": parquetfile.StringColumn, "process_no": parquetfile.Int64Column, "metric": parquetfile.StringColumn, "value": parquetfile.Float64Column,
	} {
		if c, ok := long.Column(name); !ok || c.Kind != kind {
			return parquetfile.Table{}, fmt.Errorf("metrics table: no column %s of type %s", name, kind)
		}
	}
	bundle, _ := long.Column("bundle")
	number, _ := long.Column("process_no")
	names, _ := long.Column("metric")
	values, _ := long.Column("value")

	type process struct {
		bundle string
		number int64
	}
	rowOf := map[process]int{}
	var first []int // the row in long that a process begins with
	for i := range long.Rows() {
		p := process{bundle.Strings[i], number.Ints[i]}
		if _, seen := rowOf[p]; !seen {
			rowOf[p] = len(first)
			first = append(first, i)
		}
	}
	out := parquetfile.Table{Metadata: long.Metadata}
	for _, c := range long.Columns {
		if !perMetric[c.Name] {
			out.Columns = append(out.Columns, rows(c, first))
		}
	}
	columns := map[string]*parquetfile.Column{}
	for i := range long.Rows() {
		if !values.Present(i) {
			continue
		}
		name := names.Strings[i]
		c := columns[name]
		if c == nil {
			c = &parquetfile.Column{Kind: parquetfile.Float64Column, Floats: make([]float64, len(first)), Valid: make([]bool, len(first))}
			columns[name] = c
		}
		row := rowOf[process{bundle.Strings[i], number.Ints[i]}]
		c.Floats[row], c.Valid[row] = values.Floats[i], true
	}
	for _, m := range metric.All() {
		if c := columns[m.ID]; c != nil {
			c.Name, c.Unit = m.ID+"_"+m.Unit, m.Unit
			out.Columns = append(out.Columns, *c)
		}
	}
	return out, nil
}

// rows picks rows of a column.
func rows(c parquetfile.Column, at []int) parquetfile.Column {
	picked := parquetfile.Column{Name: c.Name, Unit: c.Unit, Kind: c.Kind}
	for _, i := range at {
		switch c.Kind {
		case parquetfile.Int64Column:
			picked.Ints = append(picked.Ints, c.Ints[i])
		case parquetfile.Float64Column:
			picked.Floats = append(picked.Floats, c.Floats[i])
		case parquetfile.BoolColumn:
			picked.Bools = append(picked.Bools, c.Bools[i])
		default:
			picked.Strings = append(picked.Strings, c.Strings[i])
		}
		if c.Valid != nil {
			picked.Valid = append(picked.Valid, c.Valid[i])
		}
	}
	if c.Valid != nil && picked.Valid == nil {
		picked.Valid = []bool{}
	}
	return picked
}
