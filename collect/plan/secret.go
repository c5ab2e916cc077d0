package plan

import (
	"regexp"
	"strings"

	"pairbench/collect/redact"
)

// secretOption matches an option of an argument vector that holds a secret,
// with the value behind = if there is one.
var secretOption = regexp.MustCompile(`^--?([A-Za-z][A-Za-z0-9_.-]*)(?:=(.*))?$`)

// dsn matches text that carries a password in front of a host: a URL's user
// info, or user:password@tcp(host).
var dsn = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://[^\s/:@]*:([^\s/@]+)@|[^\s/:@]+:([^\s@]+)@(?:tcp|unix|[a-z]+)\(`)

// refuseSecrets finds literal secrets, so that the plan can be kept byte for
// byte in a bundle. What was found is never printed.
func (d *decoder) refuseSecrets(n *node, path string) error {
	const expected = "the name of an environment variable or of a file (password_env, password_file, pass_env, {env.NAME})"
	switch n.kind {
	case kindMapping:
		for i, key := range n.keys {
			child := n.items[i]
			full := join(path, key)
			holds := child.kind == kindString || child.kind == kindInt || child.kind == kindFloat
			if holds && redact.Name(key) && !onlyPlaceholder(child.str) && child.found() != `""` {
				return d.fail(child, full, "a literal secret", expected)
			}
			if err := d.refuseSecrets(child, full); err != nil {
				return err
			}
		}
	case kindList:
		option := false
		for i, item := range n.items {
			full := path + "[" + itoa(i) + "]"
			if option && item.kind == kindString && !strings.HasPrefix(item.str, "-") && !onlyPlaceholder(item.str) {
				return d.fail(item, full, "a literal secret", expected)
			}
			option = false
			if m := secretOption.FindStringSubmatch(item.str); item.kind == kindString && m != nil && redact.Name(m[1]) {
				option = !strings.Contains(item.str, "=")
				if !option && m[2] != "" && !onlyPlaceholder(m[2]) {
					return d.fail(item, full, "a literal secret", expected)
				}
			}
			if name, value, ok := strings.Cut(item.str, "="); item.kind == kindString && ok && redact.Name(name) &&
				!strings.HasPrefix(name, "-") && value != "" && !onlyPlaceholder(value) {
				return d.fail(item, full, "a literal secret", expected)
			}
			if err := d.refuseSecrets(item, full); err != nil {
				return err
			}
		}
	case kindString:
		for _, m := range dsn.FindAllStringSubmatch(n.str, -1) {
			if !onlyPlaceholder(m[1] + m[2]) {
				return d.fail(n, path, "a literal secret in a data source name", expected)
			}
		}
	}
	return nil
}

// onlyPlaceholder reports whether text is nothing but one placeholder.
func onlyPlaceholder(text string) bool {
	inner, ok := strings.CutPrefix(text, "{")
	if !ok {
		return false
	}
	inner, ok = strings.CutSuffix(inner, "}")
	return ok && isPlaceholder(inner)
}
