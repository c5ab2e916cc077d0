package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Runnable checks what a plan has to say when its processes are to be started
// here, and need not when it describes what others ran: a built-in driver takes
// the way to work from the arm's name, unless there is a setting arm. file is
// the plan's name in the error, an *Error.
func (p *Plan) Runnable(file string) error {
	root, err := parseYAML(p.Source, file)
	if err != nil {
		return err
	}
	d := &decoder{file: file}
	for i, arm := range p.Arms {
		for _, s := range p.Suites {
			known := []string{"callback", "coroutine", "goroutine"}
			switch s.Programs[i].Builtin {
			case "":
				continue
			case "asio_boost", "asio_standalone":
				known = known[:2]
			}
			if s.Settings["arm"] == nil && arm.Settings["arm"] == nil && !slices.Contains(known, arm.Name) {
				return d.fail(root.get("arms").items[i].get("name"), fmt.Sprintf("arms[%d].name", i), quote(arm.Name),
					fmt.Sprintf("one of %s, or the setting arm, because suite %s runs it with a built-in driver", strings.Join(known, ", "), s.ID))
			}
		}
	}
	return nil
}
