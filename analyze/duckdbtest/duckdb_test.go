package duckdbtest

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"pairbench/analyze"
	"pairbench/analyze/report"
	"pairbench/schemas"
)

func open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1) // variables belong to a connection
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, statements string) {
	t.Helper()
	if _, err := db.Exec(statements); err != nil {
		t.Fatalf("%v\n%.200s", err, statements)
	}
}

// rows returns the result of a query as text, NULL for an absent value.
func rows(t *testing.T, db *sql.DB, query string) map[string]string {
	t.Helper()
	result, err := db.Query(query)
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer result.Close()
	columns, err := result.Columns()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for result.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := result.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, v := range values {
			text = append(text, show(v))
		}
		out[text[0]] = strings.Join(text[1:], " ")
	}
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// show writes a value so that equal numbers have equal texts: doubles to 13
// significant digits, of which every profile prints fewer.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case float64:
		if v == 0 || math.Abs(v) < 1e-9 {
			return "0"
		}
		return fmt.Sprintf("%.12e", v)
	default:
		return fmt.Sprint(v)
	}
}

func number(n *report.Number) any {
	if n == nil {
		return nil
	}
	return n.Float()
}

// analysis runs pairbench's own analysis.
func analysis(t *testing.T, bundles ...string) (*report.Report, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "analysis")
	r, err := analyze.Run(context.Background(), analyze.Options{Bundles: bundles, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	return r, out
}

func differ(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if len(want) == 0 {
		t.Errorf("checker is broken: no rows of %s to compare", what)
	}
	wrong := 0
	for key, w := range want {
		if g, ok := got[key]; !ok || g != w {
			if wrong++; wrong <= 5 {
				t.Errorf("%s %s: got %s, want %s", what, key, g, w)
			}
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s: %s is one too many", what, key)
		}
	}
	if wrong > 5 {
		t.Errorf("%s: %d of %d rows differ", what, wrong, len(want))
	}
}

// TestPercentilesEqualQuantileDisc compares every percentile of the report's
// distribution, P50 and P99 among them, with DuckDB's over the same samples.
func TestPercentilesEqualQuantileDisc(t *testing.T) {
	dir := makeBundle(t, t.TempDir(), 1)
	r, _ := analysis(t, dir)
	db := open(t)
	got, want := map[string]string{}, map[string]string{}
	var quantiles []string
	for _, p := range report.DistributionPermyriads {
		quantiles = append(quantiles, fmt.Sprintf("quantile_disc(latency_ns, CAST(%d.%04d AS DECIMAL(5,4)))", p/10000, p%10000))
	}
	for key, v := range rows(t, db, fmt.Sprintf("SELECT process_no, %s FROM read_parquet('%s/data/samples/*.parquet', union_by_name = true) GROUP BY process_no",
		strings.Join(quantiles, ", "), dir)) {
		want[key] = v
	}
	for _, s := range r.Suites {
		for _, c := range s.Cells {
			for _, p := range c.Processes {
				if p.Latency != nil {
					got[fmt.Sprint(p.ProcessNo)] = strings.Trim(fmt.Sprint(p.Latency), "[]")
				}
			}
		}
	}
	differ(t, "percentiles of process", got, want)
}

// comparedTables are the tables of an analysis, with what names a row and the
// columns that SQL gives too.
var comparedTables = []struct{ name, key, columns string }{
	{"metrics", "concat_ws(' ', process_id, process_no, metric, suite, cell_id, slot)", "arm, side, outcome, in_median, unit, value"},
	{"summaries", "concat_ws(' ', suite, cell_id, metric, side)", "unit, better, arm, n, median, min, max"},
	{"comparisons", "concat_ws(' ', suite, cell_id, metric)",
		"unit, better, n_a, median_a, min_a, max_a, n_b, median_b, min_b, max_b, round(change_pct, 9), change_reason, overlap, overlap_reason"},
}

// TestAnalysisSQLEqualsAnalyze compares the three tables of an analysis with
// the views of analysis.sql, over one bundle and over two shards.
func TestAnalysisSQLEqualsAnalyze(t *testing.T) {
	dir := t.TempDir()
	makeBundle(t, dir, 1)
	makeBundle(t, dir, 2)
	makeBundleOf(t, dir, 13, []string{"stated"})
	for _, c := range []struct{ name, glob string }{
		{"one bundle", "bundle-1"},
		{"two bundles", "bundle-?"},
		{"no samples", "bundle-13"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bundles, err := filepath.Glob(filepath.Join(dir, c.glob))
			if err != nil {
				t.Fatal(err)
			}
			_, out := analysis(t, bundles...)
			db := open(t)
			execute(t, db, fmt.Sprintf("SET VARIABLE bundles = '%s'", filepath.Join(dir, c.glob)))
			for _, name := range []string{"duckdb", "analysis"} {
				text, ok := schemas.SQL(name)
				if !ok {
					t.Fatalf("no SQL %s", name)
				}
				execute(t, db, string(text))
			}
			for _, table := range comparedTables {
				if c.glob == "bundle-?" && table.name == "metrics" {
					continue // both bundles number their processes alike
				}
				query := func(from string) map[string]string {
					return rows(t, db, fmt.Sprintf("SELECT %s AS key, %s FROM %s", table.key, table.columns, from))
				}
				differ(t, table.name, query("pairbench_"+table.name), query(fmt.Sprintf("read_parquet('%s/%s.parquet')", out, table.name)))
			}
		})
	}
}

// TestReportEqualsItsTables recomputes the report's medians and changes from
// metrics.parquet alone, by the rule and without pairbench's code.
func TestReportEqualsItsTables(t *testing.T) {
	dir := makeBundle(t, t.TempDir(), 3)
	r, out := analysis(t, dir)
	db := open(t)
	got := rows(t, db, fmt.Sprintf(`
		SELECT suite || ' ' || cell_id || ' ' || metric, median(value) FILTER (side = 'A'), median(value) FILTER (side = 'B')
		FROM read_parquet('%s/metrics.parquet') WHERE in_median GROUP BY suite, cell_id, metric`, out))
	checked := 0
	for _, s := range r.Suites {
		for _, c := range s.Cells {
			for _, comparison := range c.Comparisons {
				key := s.ID + " " + c.ID + " " + comparison.Metric
				want := show(number(comparison.A.Median)) + " " + show(number(comparison.B.Median))
				if g, ok := got[key]; ok && g != want {
					t.Errorf("%s: medians are %s, metrics.parquet gives %s", key, want, g)
				} else if ok {
					checked++
				}
				if comparison.ChangePct != nil {
					a, b := comparison.A.Median.Rat(), comparison.B.Median.Rat()
					change := new(big.Rat).Quo(new(big.Rat).Sub(b, a), a)
					if change.Mul(change, big.NewRat(100, 1)).Cmp(comparison.ChangePct.Rat()) != 0 {
						t.Errorf("%s: change is %s, want %s", key, comparison.ChangePct.Rat(), change)
					}
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("checker is broken: only %d medians were compared", checked)
	}
}
