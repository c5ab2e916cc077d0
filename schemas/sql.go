package schemas

import (
	"embed"
	"strings"
)

//go:embed analysis.sql sql/*.sql
var sqlFiles embed.FS

// SQL returns the analysis in portable SQL for the name analysis, and for
// duckdb, spark, trino and clickhouse the relations that it stands on there. A
// name may end in .sql. The caller owns the bytes.
func SQL(name string) ([]byte, bool) {
	name = strings.TrimSuffix(name, ".sql")
	for _, path := range []string{name + ".sql", "sql/" + name + ".sql"} {
		if b, err := sqlFiles.ReadFile(path); err == nil {
			return b, true
		}
	}
	return nil, false
}
