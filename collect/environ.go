package collect

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"

	"pairbench/collect/plan"
	"pairbench/collect/redact"
)

// alwaysPassed are the variables of the collector's environment that every
// process gets where they are set; their names are recorded.
var alwaysPassed = [...]string{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"}

func lookupEnv(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// environment is what processes of an arm get beside their job and service:
// what is always passed, what the plan passes and what it sets, later ones over
// earlier ones, sorted by name.
func (c *collection) environment(arm plan.Arm) []string {
	values := make(map[string]string)
	for _, name := range append(alwaysPassed[:], c.plan.PassEnv...) {
		if v, ok := lookupEnv(c.env, name); ok {
			values[name] = v
		}
	}
	for _, set := range []map[string]string{c.plan.Env, arm.Env} {
		for name, v := range set {
			values[name] = v
		}
	}
	out := make([]string, 0, len(values))
	for name, v := range values {
		out = append(out, name+"="+v)
	}
	slices.Sort(out)
	return out
}

var envReference = regexp.MustCompile(`\{env\.([A-Za-z_][A-Za-z0-9_]*)\}`)

// gatherSecrets collects every secret that the plan names, before anything is
// started or written.
func (c *collection) gatherSecrets() error {
	for _, name := range c.plan.PassEnv {
		v, _ := lookupEnv(c.env, name)
		if redact.Name(name) {
			c.secrets.Add(v)
		} else {
			c.secrets.AddPasswords([]byte(v))
		}
	}
	for _, s := range c.plan.Suites {
		for _, p := range s.Programs {
			for _, m := range envReference.FindAllStringSubmatch(strings.Join(p.Command, "\n")+"\n"+buildArgs(p), -1) {
				v, ok := lookupEnv(c.env, m[1])
				if !ok {
					return &SetupError{Object: "suite " + s.ID, Err: fmt.Errorf("the variable %s, which the program names, is not set", m[1])}
				}
				c.secrets.Add(v)
			}
		}
		if s.Service == nil {
			continue
		}
		if v, ok := lookupEnv(c.env, s.Service.PasswordEnv); ok && s.Service.PasswordEnv != "" {
			c.secrets.Add(v)
		}
		if s.Service.PasswordFile != "" {
			content, err := os.ReadFile(s.Service.PasswordFile)
			if err != nil {
				return &SetupError{Object: "service " + s.Service.Name, Err: fmt.Errorf("read the password: %w", err)}
			}
			c.secrets.Add(strings.TrimRight(string(content), "\r\n"))
		}
	}
	return nil
}

func buildArgs(p plan.Program) string {
	if p.Build == nil {
		return ""
	}
	return strings.Join(p.Build.Args, "\n")
}

func splitAddress(address string) (host, port string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", ""
	}
	return host, port
}

func lines(text []byte) []string {
	return strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
}
