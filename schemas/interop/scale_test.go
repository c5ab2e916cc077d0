package interop

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pairbench/schemas"
)

// A small size by default, and no Spark, whose start takes longer than all else
// (analyze/duckdbtest has it over two bundles); make scale gives the full one.
var (
	scaleEngines = flag.String("engines", "duckdb", "which engines to run, of duckdb and spark")
	scaleBundles = flag.Int("bundles", 6, "how many bundles to generate")
	scaleSamples = flag.Int("samples", 200_000, "how many samples to generate in all")
)

// TestScale runs analysis.sql in DuckDB, or in Spark's local mode, over many
// generated bundles, found by a glob, and compares every row of metrics,
// summaries and comparisons with what analyze leaves.
func TestScale(t *testing.T) {
	dir := t.TempDir()
	const rounds, cells = 3, 3 // a closed, an open and a stated cell
	begin := time.Now()
	var bundles []string
	for i := range *scaleBundles {
		path := filepath.Join(dir, "shard-"+number(int64(i+1)))
		processes := *scaleBundles * 2 * rounds * 2 // those with samples
		study{seed: 5, cells: cells, firstCell: i * cells, rounds: rounds, samples: (*scaleSamples + processes - 1) / processes}.write(t, path)
		bundles = append(bundles, path)
	}
	t.Logf("generated %d bundles of %d samples in %v", *scaleBundles, *scaleSamples, time.Since(begin).Round(time.Millisecond))
	begin = time.Now()
	analysed := analysis(t, bundles...)
	t.Logf("analyze: %v", time.Since(begin).Round(time.Millisecond))
	glob := filepath.Join(dir, "shard-*[0-9]")
	for _, engine := range strings.Split(*scaleEngines, ",") {
		t.Run(engine, func(t *testing.T) {
			var statements strings.Builder
			for _, name := range []string{engine, "analysis"} {
				text, ok := schemas.SQL(name)
				if !ok {
					t.Fatalf("no SQL %s", name)
				}
				part := strings.ReplaceAll(string(text), "${bundles}", glob)
				if engine == "spark" && name == "analysis" {
					part = strings.ReplaceAll(part, "REPLACE VIEW", "REPLACE TEMPORARY VIEW")
				}
				statements.WriteString(part)
			}
			file := filepath.Join(dir, engine+".sql")
			check(t, os.WriteFile(file, []byte(statements.String()), 0o600))
			t.Log(python(t, "scale.py", engine, file, glob, analysed, filepath.Join(dir, "tmp")))
		})
	}
}
