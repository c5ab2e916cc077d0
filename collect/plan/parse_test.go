package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pairbench/collect/plan"
)

// base is a whole plan of two cells; tests edit one of its lines.
const base = `plan: 1
study: s
arms:
  - {name: callback}
  - {name: coroutine}
rounds: 2
suites:
  - id: one
    workload: redis_echo
    service: {name: redis, kind: redis}
    factors:
      size: [1, 2]
    warmup: {operations: 1}
    measure: {operations: 10}
`

func edit(t *testing.T, from, to string) string {
	t.Helper()
	if !strings.Contains(base, from) {
		t.Fatalf("the base plan has no %q", from)
	}
	return strings.Replace(base, from, to, 1)
}

func TestParseRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		from, to string
		want     string
	}{
		"unknown key":        {"rounds: 2", "rounds: 2\nruonds: 3", "plan p.yaml:7:1: ruonds: found an unknown key, expected one of arms, env, layout, order, pass_env, plan, profile, rounds, study, suites, title"},
		"unknown suite key":  {"    workload", "    wrkload: x\n    workload", "plan p.yaml:9:5: suites[0].wrkload: found an unknown key"},
		"wrong type":         {"rounds: 2", "rounds: two", `plan p.yaml:6:9: rounds: found "two", expected an integer`},
		"zero rounds":        {"rounds: 2", "rounds: 0", "plan p.yaml:6:9: rounds: found 0, expected at least 1"},
		"missing key":        {"study: s\n", "", "plan p.yaml:1:1: document: found no study, expected the key study"},
		"misspelt key":       {"study: s\n", "stduy: s\n", "plan p.yaml:2:1: stduy: found an unknown key, expected one of arms"},
		"misspelt deep":      {"    workload", "    wrokload", "suites[0].wrokload: found an unknown key, expected one of"},
		"other version":      {"plan: 1", "plan: 2", "plan p.yaml:1:7: plan: found 2, expected 1"},
		"empty matrix":       {"[1, 2]", "[]", "plan p.yaml:12:13: suites[0].factors.size: found an empty list, expected at least 1"},
		"no factor":          {"      size: [1, 2]\n", "      {}\n", "plan p.yaml:12:7: suites[0].factors: found an empty object, expected at least 1 key"},
		"factor of nothing":  {"size: [1, 2]", "size:", "plan p.yaml:12:7: suites[0].factors.size: found nothing, expected a list or an object"},
		"duplicate value":    {"[1, 2]", "[1, 2, 1]", "plan p.yaml:12:20: suites[0].factors.size[2]: found 1 a second time, expected each value once"},
		"mixed values":       {"[1, 2]", "[1, big]", `plan p.yaml:12:17: suites[0].factors.size[1]: found a string, expected an integer, as the factor's first value`},
		"nested value":       {"[1, 2]", "[1, [2]]", "plan p.yaml:12:17: suites[0].factors.size[1]: found a list, expected a boolean or an integer or a number or a string"},
		"null value":         {"[1, 2]", "[1, null]", "plan p.yaml:12:17: suites[0].factors.size[1]: found nothing"},
		"not a number":       {"[1, 2]", "[1, .nan]", "plan p.yaml:12:17: suites[0].factors.size[1]: found infinity or not a number, expected a finite number"},
		"huge integer":       {"[1, 2]", "[1, 99999999999999999999]", "plan p.yaml:12:17: suites[0].factors.size[1]: found "},
		"one arm":            {"  - {name: coroutine}\n", "", "plan p.yaml:4:3: arms: found 1 values, expected at least 2"},
		"equal arms":         {"coroutine", "callback", `plan p.yaml:5:12: arms[1].name: found "callback", expected another name than the first arm's`},
		"bad order":          {"rounds: 2", "rounds: 2\norder: random", `plan p.yaml:7:8: order: found "random", expected one of alternate, shuffle, sequential`},
		"unknown workload":   {"redis_echo", "redis_ping", `plan p.yaml:9:15: suites[0].workload: found "redis_ping", expected one of redis_echo,`},
		"no service":         {"    service: {name: redis, kind: redis}\n", "", "plan p.yaml:9:15: suites[0].workload: found redis_echo without a service, expected a service of the kind redis in the suite"},
		"unknown service":    {"kind: redis", "kind: oracle", `plan p.yaml:10:34: suites[0].service.kind: found "oracle", expected one of redis, mysql, echo`},
		"managed echo":       {"kind: redis", "kind: echo, mode: managed", `plan p.yaml:10:46: suites[0].service.mode: found "managed", expected one of embedded, external for echo`},
		"no address":         {"kind: redis", "kind: redis, mode: external", "found no address, expected an address, because the mode is external"},
		"bad address":        {"kind: redis", "kind: redis, mode: external, address: here", `suites[0].service.address: found "here", expected host:port`},
		"template factor":    {"    warmup", "    cell_id: \"{sise}\"\n    warmup", `plan p.yaml:13:14: suites[0].cell_id: found the unknown factor {sise}, expected one of size`},
		"template collides":  {"    warmup", "    cell_id: all\n    warmup", `suites[0].cell_id: found the id "all" for two cells, expected a template that names every varying factor`},
		"template escapes":   {"    warmup", "    cell_id: \"../{size}\"\n    warmup", `suites[0].cell_id: found the cell id "../1", expected path segments`},
		"rule factor":        {"{operations: 10}", "[{when: {sise: 1}, operations: 1}, {operations: 2}]", `plan p.yaml:14:23: suites[0].measure[0].when.sise: found the unknown factor "sise", expected one of size`},
		"rule value":         {"{operations: 10}", "[{when: {size: 3}, operations: 1}, {operations: 2}]", "suites[0].measure[0].when.size: found 3, expected a value that the factor takes: 1, 2"},
		"rules with a hole":  {"{operations: 10}", "[{when: {size: 1}, operations: 1}]", "suites[0].measure: found no rule for the cell size-2, expected a rule that matches every cell"},
		"unreachable rule":   {"{operations: 10}", "[{operations: 1}, {operations: 2}]", "suites[0].measure[0]: found a rule without when before the last"},
		"count and time":     {"{operations: 10}", "{operations: 10, duration: 1s}", "suites[0].measure: found operations and duration that do not go together"},
		"nothing measured":   {"{operations: 10}", "{operations: 0}", "suites[0].measure: found nothing to measure in the cell size-1"},
		"bad duration":       {"{operations: 10}", "{duration: 1 second}", `suites[0].measure.duration: found "1 second", expected a duration such as 250ms, 1s or 2m`},
		"panel factor":       {"    warmup", "    panel: [sise]\n    warmup", `suites[0].panel[0]: found the unknown factor "sise", expected one of size`},
		"torn batches":       {"    warmup", "    operations_per_sample: 4\n    warmup", "expected whole batches of 4"},
		"exclude all":        {"    warmup", "    exclude: [{size: [1, 2]}]\n    warmup", "suites[0].exclude: found no cell left, expected at least one cell"},
		"exclude none":       {"[1, 2]", "[1, 2]\n    exclude: [{size: 9}]", "suites[0].exclude[0].size: found 9, expected a value that the factor takes: 1, 2"},
		"combination again":  {"    warmup", "    combinations: [{factors: [a, b], values: [[1, 2], [1, 2]]}]\n    warmup", "suites[0].combinations[0].values[1]: found the same values a second time (a duplicate cell)"},
		"combination short":  {"    warmup", "    combinations: [{factors: [a, b], values: [[1]]}]\n    warmup", "suites[0].combinations[0].values[0]: found 1 values, expected 2, one for each factor"},
		"combination taken":  {"    warmup", "    combinations: [{factors: [size], values: [[1]]}]\n    warmup", `found the factor "size", which has its values already`},
		"constant taken":     {"    warmup", "    constants: {size: 1}\n    warmup", `suites[0].constants.size: found the name "size", which is taken`},
		"no program":         {"redis_echo", "command", "suites[0].workload: found no program for the arm callback"},
		"two programs":       {"{name: callback}", "{name: callback, program: {builtin: pbdriver, command: [x]}}", "arms[0].program: found 2 of builtin, command and build, expected exactly one"},
		"placeholder":        {"{name: callback}", `{name: callback, program: {command: [x, "{sise}"]}}`, `found the unknown placeholder {sise} in "{sise}", expected a factor of the suite (size) or one of`},
		"open brace":         {"{name: callback}", `{name: callback, program: {command: [x, "{size"]}}`, "found a { that is not closed"},
		"bad regexp":         {"{name: callback}", `{name: callback, program: {command: [x], read: {fields: {p50_ns: {regexp: "("}}}}}`, "arms[0].program.read.fields.p50_ns.regexp: found"},
		"binary escapes":     {"{name: callback}", `{name: callback, program: {build: {repository: r, revision: v1, command: [make], binary: ../x}}}`, `found "../x", expected a path inside the work tree`},
		"arm of programs":    {"    warmup", "    programs: {calback: {builtin: pbdriver}}\n    warmup", `found the unknown arm "calback", expected callback or coroutine`},
		"duplicate key":      {"rounds: 2", "rounds: 2\nrounds: 3", "plan p.yaml:7:1: "},
		"anchor":             {"rounds: 2", "rounds: &r 2", "plan p.yaml:6:9: document: found a YAML anchor or alias, expected plain values"},
		"alias":              {"rounds: 2", "rounds: *r", "found a YAML anchor or alias, expected plain values"},
		"merge":              {"rounds: 2", "rounds: 2\n<<: {a: 1}", "found a YAML anchor or alias"},
		"tag":                {"rounds: 2", "rounds: !!int 2", "found a YAML tag, expected plain values"},
		"complex key":        {"rounds: 2", "? rounds\n: 2", "found a complex key, expected a plain key"},
		"two documents":      {"plan: 1", "plan: 1\n---\nplan: 1", "found a second document, expected one YAML document"},
		"broken flow":        {"[1, 2]", "[1, 2", "expected a YAML document"},
		"deep":               {"[1, 2]", strings.Repeat("[", 100) + strings.Repeat("]", 100), "found values nested too deeply, expected at most 32 levels"},
		"deep entries":       {"[1, 2]", "\n        " + strings.Repeat("- ", 100) + "1", "found values nested too deeply"},
		"not UTF-8":          {"study: s", "study: s\xff", "plan p.yaml:2:9: document: found the byte 0xff, expected UTF-8 text"},
		"NUL":                {"study: s", "study: s\x00", "plan p.yaml:2:9: document: found the control character U+0000"},
		"escape":             {"study: s", "study: \"\x1b[31m\"", "found the control character U+001B"},
		"study id":           {"study: s", "study: ../s", `plan p.yaml:2:8: study: found "../s", expected text that matches`},
		"service kinds":      {"    measure: {operations: 10}\n", "    measure: {operations: 10}\n  - id: two\n    workload: mysql_text\n    service: {name: redis, kind: mysql}\n    measure: {operations: 1}\n", `suites[1].service.kind: found "mysql", expected redis, as the other service named redis`},
		"suite twice":        {"    measure: {operations: 10}\n", "    measure: {operations: 10}\n  - id: ONE\n    workload: tcp_echo\n    measure: {operations: 1}\n", `suites[1].id: found "ONE", expected an id that no other suite has`},
		"too many cells":     {"[1, 2]", manyAxes(), "found more than 100000 cells, expected at most 100000"},
		"reserved factor":    {"size: [1, 2]", "arm: [1, 2]", `suites[0].factors.arm: found the reserved name "arm", expected another name`},
		"env name":           {"rounds: 2", "rounds: 2\nenv: {\"A B\": x}", `env."A B": found the key "A B", expected a name`},
		"a list for a plan":  {base, "- 1\n", "plan p.yaml:1:1: document: found a list, expected an object with the keys"},
		"nothing for a plan": {base, "\n# nothing\n", "plan p.yaml:1:1: document: found an empty document"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Parse([]byte(edit(t, tt.from, tt.to)), "p.yaml")
			var fault *plan.Error
			if !errors.As(err, &fault) {
				t.Fatalf("got %v, want a *plan.Error with %q", err, tt.want)
			}
			if got := err.Error(); !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if fault.Line < 1 || fault.Column < 1 {
				t.Errorf("place is %d:%d", fault.Line, fault.Column)
			}
		})
	}
}

func manyAxes() string {
	var axes strings.Builder
	axes.WriteString("[1, 2]\n")
	for i := range 40 {
		fmt.Fprintf(&axes, "      f%d: [1, 2, 3]\n", i)
	}
	return strings.TrimSuffix(axes.String(), "\n")
}

func TestParseRefusesLiteralSecrets(t *testing.T) {
	for name, tt := range map[string]struct{ from, to string }{
		"environment":       {"rounds: 2", "rounds: 2\nenv: {DB_PASSWORD: hunter2}"},
		"arm environment":   {"{name: callback}", "{name: callback, env: {GITHUB_TOKEN: hunter2}}"},
		"setting":           {"{name: callback}", "{name: callback, settings: {password: hunter2}}"},
		"numeric":           {"{name: callback}", "{name: callback, settings: {password: 4711}}"},
		"service option":    {"kind: redis", "kind: redis, options: {requirepass_password: hunter2}"},
		"option":            {"{name: callback}", "{name: callback, program: {command: [x, --password=hunter2]}}"},
		"option and value":  {"{name: callback}", "{name: callback, program: {command: [x, --api-key, hunter2]}}"},
		"assignment":        {"{name: callback}", "{name: callback, program: {command: [env, DB_PASSWORD=hunter2, x]}}"},
		"URL":               {"{name: callback}", "{name: callback, program: {command: [x, 'redis://u:hunter2@h:1/0']}}"},
		"URL without user":  {"{name: callback}", "{name: callback, program: {command: [x, 'redis://:hunter2@h:1/0']}}"},
		"data source name":  {"{name: callback}", "{name: callback, program: {command: [x, 'u:hunter2@tcp(h:1)/db']}}"},
		"repository":        {"{name: callback}", "{name: callback, program: {build: {repository: 'https://u:hunter2@h/r', revision: v1, command: [make], binary: x}}}"},
		"factor of secrets": {"size: [1, 2]", "dsn: ['u:hunter2@tcp(h:1)/db']"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Parse([]byte(edit(t, tt.from, tt.to)), "p.yaml")
			var fault *plan.Error
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), "a literal secret") {
				t.Fatalf("got %v, want a refusal of the literal secret", err)
			}
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "4711") {
				t.Errorf("the refusal repeats the secret: %v", err)
			}
		})
	}
	for name, tt := range map[string]struct{ from, to string }{
		"named variable":  {"kind: redis", "kind: redis, password_env: DB_PASSWORD"},
		"named file":      {"kind: redis", "kind: redis, password_file: /run/secrets/db"},
		"handed on":       {"rounds: 2", "rounds: 2\npass_env: [DB_PASSWORD]"},
		"placeholder":     {"{name: callback}", `{name: callback, program: {command: [x, "--password={env.DB_PASSWORD}"]}}`},
		"value by itself": {"{name: callback}", `{name: callback, program: {command: [x, --password, "{env.DB_PASSWORD}"]}}`},
		"in a URL":        {"{name: callback}", `{name: callback, program: {command: [x, "redis://u:{env.DB_PASSWORD}@h:1/0"]}}`},
		"plain option":    {"{name: callback}", `{name: callback, program: {command: [x, --tokens-per-second, "3"]}}`},
		"plain address":   {"{name: callback}", `{name: callback, program: {command: [x, "http://host:80/a@b"]}}`},
	} {
		t.Run("allows "+name, func(t *testing.T) {
			if _, err := plan.Parse([]byte(edit(t, tt.from, tt.to)), "p.yaml"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseKeepsTheFile(t *testing.T) {
	source := []byte("\ufeff# héllo\r\n" + strings.ReplaceAll(base, "\n", "\r\n"))
	p, err := plan.Parse(source, "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(p.Source, source) {
		t.Error("the source is not the file byte for byte")
	}
}

func TestParseSizeLimit(t *testing.T) {
	_, err := plan.Parse([]byte(base+"#"+strings.Repeat("x", 1<<20)), "p.yaml")
	if err == nil || !strings.Contains(err.Error(), "expected at most 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

// TestHostileText holds documents that are built to cost the parser much more
// than their size: each must be settled, one way or the other, in the time that
// a test may take.
func TestHostileText(t *testing.T) {
	const size = 1<<18 - 64
	indent := func() string {
		var b strings.Builder
		for i := 0; b.Len() < size-1000; i++ {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"open lists":     strings.Repeat("[", size),
		"open objects":   strings.Repeat("{a: ", size/4),
		"entries":        strings.Repeat("- ", size/2),
		"question marks": strings.Repeat("? ", size/2),
		"indents":        indent(),
		"keys":           strings.Repeat("a: 1\n", size/5),
		"colons":         strings.Repeat(":", size),
		"colon spaces":   strings.Repeat(": ", size/2),
		"quotes":         strings.Repeat(`"`, size),
		"one string":     `a: "` + strings.Repeat("x", size/2),
		"pipes":          strings.Repeat("|\n", size/2),
		"commas":         "[" + strings.Repeat(",", size-2) + "]",
		"anchors":        strings.Repeat("&a ", size/3),
		"bangs":          strings.Repeat("!", size),
		"documents":      strings.Repeat("---\n", size/4),
		"comments":       strings.Repeat("#\n", size/2),
		"percents":       strings.Repeat("%", size),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			_, err := plan.Parse([]byte(text), "p.yaml")
			if err == nil {
				t.Error("accepted")
			}
			t.Logf("%v: %v", time.Since(began), err)
		})
	}
}

// A built-in driver takes its way to work from the arm's name, so that a plan
// that is to run here names one that it has. Others may be called as they like.
func TestRunnableKnowsTheArmsOfBuiltInDrivers(t *testing.T) {
	for name, tt := range map[string]struct{ from, to, want string }{
		"as it is":   {"study", "study", ""},
		"misspelt":   {"{name: callback}", "{name: callbak}", `plan p.yaml:4:12: arms[0].name: found "callbak", expected one of callback, coroutine, goroutine, or the setting arm, because suite one runs it with a built-in driver`},
		"a setting":  {"{name: callback}", "{name: mine, settings: {arm: goroutine}}", ""},
		"of a suite": {"    warmup", "    settings: {arm: callback}\n    warmup", ""},
		"a command":  {"{name: callback}", "{name: mine, program: {command: [x], read: {}}}", ""},
		"in C++":     {"{name: coroutine}", "{name: goroutine, program: {builtin: asio_boost}}", `found "goroutine", expected one of callback, coroutine, or`},
	} {
		p, err := plan.Parse([]byte(edit(t, tt.from, tt.to)), "p.yaml")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = p.Runnable("p.yaml")
		if got := fmt.Sprint(err); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	for _, name := range plan.BuiltinNames() {
		source, _ := plan.Builtin(name)
		p, err := plan.Parse(source, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Runnable(name); err != nil {
			t.Error(err)
		}
	}
}
