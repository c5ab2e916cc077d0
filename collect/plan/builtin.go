package plan

import (
	"embed"
	"sort"
	"strings"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// Builtin returns the plan file that the product brings under this name.
func Builtin(name string) ([]byte, bool) {
	if strings.ContainsAny(name, "/\\") {
		return nil, false
	}
	b, err := builtin.ReadFile("builtin/" + name + ".yaml")
	return b, err == nil
}

// BuiltinNames lists the built-in plans, sorted.
func BuiltinNames() []string {
	entries, err := builtin.ReadDir("builtin")
	if err != nil {
		panic("plan: the embedded plans cannot be listed: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	sort.Strings(names)
	return names
}
