package plan

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// placeholders are the names that Expand's callers know beside the factors;
// {env.NAME} is known too.
var placeholders = []string{"suite", "cell", "arm", "side", "round", "service_address", "service_host", "service_port"}

var envPlaceholder = regexp.MustCompile(`^env\.[A-Za-z_][A-Za-z0-9_]*$`)

func isPlaceholder(name string) bool {
	return slices.Contains(placeholders, name) || envPlaceholder.MatchString(name)
}

// Expand replaces every {name} in one element of an argument vector by what
// lookup knows of it. {{ and }} are braces. The element is never split. An
// unknown name and a brace that is not closed are errors.
func Expand(element string, lookup func(name string) (string, bool)) (string, error) {
	var out strings.Builder
	for i := 0; i < len(element); {
		switch c := element[i]; {
		case c == '{' && i+1 < len(element) && element[i+1] == '{':
			out.WriteByte('{')
			i += 2
		case c == '}':
			if i+1 >= len(element) || element[i+1] != '}' {
				return "", fmt.Errorf("a lone }")
			}
			out.WriteByte('}')
			i += 2
		case c == '{':
			end := strings.IndexByte(element[i:], '}')
			if end < 0 {
				return "", fmt.Errorf("a { that is not closed")
			}
			name := element[i+1 : i+end]
			value, ok := lookup(name)
			if !ok {
				return "", fmt.Errorf("the unknown placeholder {%s}", name)
			}
			out.WriteString(value)
			i += end + 1
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String(), nil
}

func validAddress(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || strings.ContainsAny(host, "@/ ") {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n < 65536
}
