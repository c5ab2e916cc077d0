package schemas

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed analysis.sql sql/*.sql
var sqlFiles embed.FS

// SQLNames lists what SQL knows: analysis.sql, then an engine's file a name.
func SQLNames() []string {
	names := []string{"analysis.sql"}
	engines, err := fs.ReadDir(sqlFiles, "sql")
	if err != nil {
		panic("schemas: the embedded SQL cannot be listed: " + err.Error())
	}
	for _, e := range engines {
		names = append(names, "sql/"+e.Name())
	}
	return names
}

// SQL returns the analysis in portable SQL for the name analysis, and for
// duckdb, spark, trino and clickhouse the relations that it stands on there. A
// name may end in .sql and begin with sql/. The caller owns the bytes.
func SQL(name string) ([]byte, bool) {
	name = strings.TrimPrefix(strings.TrimSuffix(name, ".sql"), "sql/")
	for _, path := range []string{name + ".sql", "sql/" + name + ".sql"} {
		if b, err := sqlFiles.ReadFile(path); err == nil {
			return b, true
		}
	}
	return nil, false
}
