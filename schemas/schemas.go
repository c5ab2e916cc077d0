package schemas

import (
	"embed"
	"io/fs"
	"sort"
	"strings"
)

//go:embed *.json
var files embed.FS

// Names lists what Lookup knows, sorted: plan.v1, report.v1, columns.v1 and so
// on.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic("schemas: the embedded files cannot be listed: " + err.Error())
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, shortName(entry.Name()))
	}
	sort.Strings(names)
	return names
}

// Lookup returns the named document. The version may be left out (plan means
// the newest plan schema) and the file's full name is understood too. The
// caller owns the bytes.
func Lookup(name string) ([]byte, bool) {
	best := ""
	for _, known := range Names() {
		base, _, _ := strings.Cut(known, ".v")
		if known == shortName(name) {
			best = known
			break
		}
		if base == name && known > best {
			best = known
		}
	}
	if best == "" {
		return nil, false
	}
	for _, suffix := range []string{".schema.json", ".json"} {
		if b, err := files.ReadFile(best + suffix); err == nil {
			return b, true
		}
	}
	return nil, false
}

func shortName(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, ".json"), ".schema")
}
