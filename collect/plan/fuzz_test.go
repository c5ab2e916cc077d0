package plan_test

import (
	"errors"
	"strings"
	"testing"

	"pairbench/collect/plan"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte(base))
	for _, name := range plan.BuiltinNames() {
		source, _ := plan.Builtin(name)
		f.Add(source)
	}
	for _, s := range []string{"", "a: b: c", "- [", "{a: &x 1, b: *x}", "plan: 1\nstudy: \"\\u0000\"", "a: |\n  x\n", "? a", "%YAML 1.2\n---\n", "\ufeff", "<<: 1", "a: !x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		p, err := plan.Parse(source, "fuzz.yaml")
		if err != nil {
			var fault *plan.Error
			if !errors.As(err, &fault) {
				t.Fatalf("not a *plan.Error: %v", err)
			}
			if fault.Line < 1 || fault.Column < 1 || fault.Key == "" || fault.Found == "" || fault.Expected == "" ||
				strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Fatalf("not one clear line: %q", err)
			}
			return
		}
		checkPlan(t, p)
	})
}
