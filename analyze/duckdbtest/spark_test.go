package duckdbtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pairbench/schemas"
)

// sparkScript runs statements in Spark's local mode and leaves each view as one
// Parquet file beside the given directory. Then it runs the relations alone over
// a bundle without samples, and says how many rows they have.
const sparkScript = `
import sys
from pyspark.sql import SparkSession

statements, out, without = sys.argv[1:4]
spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
         .config("spark.sql.shuffle.partitions", "4").config("spark.driver.bindAddress", "127.0.0.1")
         .config("spark.sql.warehouse.dir", out + "/warehouse").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")

def run(path):
    lines = [l for l in open(path).read().splitlines() if not l.strip().startswith("--")]
    for statement in "\n".join(lines).split(";"):
        if statement.strip():
            spark.sql(statement)

run(statements)
for view in ["metrics", "summaries"]:
    spark.sql("CACHE TABLE pairbench_" + view)
for view in ["metrics", "summaries", "comparisons"]:
    spark.table("pairbench_" + view).coalesce(1).write.parquet(out + "/" + view)
spark.catalog.clearCache()
run(without)
print("samples", spark.table("pairbench_samples").count(), "processes", spark.table("pairbench_processes").count())
spark.stop()
`

// TestAnalysisSQLInSpark runs the same SQL in Spark and compares what it leaves
// with the tables of an analysis.
func TestAnalysisSQLInSpark(t *testing.T) {
	python := os.Getenv("PAIRBENCH_PYTHON")
	if python == "" {
		python = "../../.venv/bin/python"
	}
	if err := exec.Command(python, "-c", "import pyspark").Run(); err != nil {
		t.Fatalf("no pyspark for %s: run make prepare, or name a Python that has it in PAIRBENCH_PYTHON: %v", python, err)
	}
	dir := t.TempDir()
	makeBundle(t, dir, 1, 1, 100, 101, 1000)
	makeBundle(t, dir, 2, 1, 100, 101, 1000)
	makeBundleOf(t, dir, 13, []string{"stated"}, 100)
	var statements strings.Builder
	for _, name := range []string{"spark", "analysis"} {
		text, ok := schemas.SQL(name)
		if !ok {
			t.Fatalf("no SQL %s", name)
		}
		part := strings.ReplaceAll(string(text), "${bundles}", filepath.Join(dir, "bundle-?"))
		if name == "analysis" {
			part = strings.ReplaceAll(part, "REPLACE VIEW", "REPLACE TEMPORARY VIEW")
		}
		statements.WriteString(part)
	}
	file, out := filepath.Join(dir, "statements.sql"), filepath.Join(dir, "spark")
	if err := os.WriteFile(file, []byte(statements.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	relations, _ := schemas.SQL("spark")
	without := filepath.Join(dir, "without.sql")
	if err := os.WriteFile(without, bytes.ReplaceAll(relations, []byte("${bundles}"), []byte(filepath.Join(dir, "bundle-13"))), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(python, "-c", sparkScript, file, out, without).CombinedOutput()
	if err != nil {
		t.Fatalf("spark: %v\n%s", err, text)
	}
	if want := "samples 0 processes 6"; !strings.Contains(string(text), want) {
		t.Errorf("a bundle without samples: expected %q\n%s", want, text)
	}
	_, analysed := analysis(t, filepath.Join(dir, "bundle-1"), filepath.Join(dir, "bundle-2"))
	db := open(t)
	for _, table := range comparedTables {
		query := func(files string) map[string]string {
			key := table.key
			if table.name == "metrics" {
				// Both bundles number their processes alike; their values differ.
				key = "concat_ws(' ', " + table.key + ", printf('%.12e', value))"
			}
			return rows(t, db, fmt.Sprintf("SELECT %s AS key, %s FROM read_parquet('%s')", key, table.columns, files))
		}
		differ(t, "Spark's "+table.name, query(filepath.Join(out, table.name, "*.parquet")), query(filepath.Join(analysed, table.name+".parquet")))
	}
}
