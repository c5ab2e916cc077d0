package interop

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryDialectParses holds analysis.sql, with the relations of the engines
// that are not run here, against the grammar of each: every statement parses,
// and every column that a view reads is there.
func TestEveryDialectParses(t *testing.T) {
	for _, dialect := range []string{"clickhouse", "trino"} {
		t.Run(dialect, func(t *testing.T) {
			out := python(t, "dialects.py", dialect, filepath.Join("..", "sql", dialect+".sql"), filepath.Join("..", "analysis.sql"))
			t.Log(strings.TrimSpace(out))
			if !strings.Contains(out, "columns resolved") {
				t.Error("checker is broken: it resolved no column")
			}
		})
	}
}
