package importer

import (
	"bytes"
	"regexp"
	"slices"

	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
)

// redactedMark stands where a secret stood.
const redactedMark = "[redacted]"

// secretName is the end of a name whose value is a secret. authenticate is
// memtier's.
const secretName = `(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|authenticate)`

var (
	// secretsInText are patterns whose first group is a secret: a password in
	// front of a host, a value behind a telling name or option, a credential of
	// HTTP.
	secretsInText = []*regexp.Regexp{
		regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@"']*:([^/\s@"']+)@`),
		regexp.MustCompile(`(?i)` + secretName + `\\?["']?\s{0,4}[=:]\s{0,4}\\?["']?([^\s"'\\,;&(){}\[\]]+)`),
		regexp.MustCompile(`(?i)--?[a-z0-9_-]*` + secretName + `\s+([^\s"'\\,;&(){}\[\]-][^\s"'\\,;&(){}\[\]]*)`),
		regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([a-z0-9._~+/=-]{6,})`),
	}
	secretMember = regexp.MustCompile(`(?i)` + secretName + `$`)
)

// redactText takes secrets out of a file before anything reads it.
func redactText(src result.Source) result.Source {
	return without(src, secretsIn(src.Data, 0, len(src.Data), secretsInText))
}

// redactNames does it in a text that is all names of benchmarks, such as
// Parse/token=ident, where only passwords in front of a host are secrets.
func redactNames(src result.Source) result.Source {
	return without(src, secretsIn(src.Data, 0, len(src.Data), secretsInText[:1]))
}

// redactJSON does it in JSON: every value of a member with a telling name, all
// that k6 keeps of a test's setup, and what is secret inside other texts. What
// is no JSON is refused by its reader.
func redactJSON(src result.Source) result.Source {
	root, err := jsondoc.Parse(src.Data)
	if err != nil {
		return src
	}
	start, _ := root.Span()
	spans := secretsIn(src.Data, 0, start, secretsInText)
	return without(src, secretMembers(src.Data, root, spans))
}

// without returns the file with a mark in place of each span.
func without(src result.Source, spans [][2]int) result.Source {
	spans = slices.DeleteFunc(spans, func(s [2]int) bool {
		text := src.Data[s[0]:s[1]]
		return len(text) == 0 || bytes.Equal(text, []byte(redactedMark)) || string(text) == `""`
	})
	if len(spans) == 0 {
		return src
	}
	slices.SortFunc(spans, func(a, b [2]int) int {
		if a[0] != b[0] {
			return a[0] - b[0]
		}
		return b[1] - a[1]
	})
	var out []byte
	done := 0
	for _, s := range spans {
		if s[1] <= done {
			continue // inside one that is gone already
		}
		out = append(out, src.Data[done:max(done, s[0])]...)
		mark := redactedMark
		if c := src.Data[s[0]]; c == '"' || c == '{' || c == '[' {
			mark = `"` + mark + `"`
		}
		out = append(out, mark...)
		done = s[1]
		src.Redacted++
	}
	src.Data = append(out, src.Data[done:]...)
	return src
}

// secretsIn finds what the patterns know in a part of a text.
func secretsIn(text []byte, start, end int, patterns []*regexp.Regexp) [][2]int {
	var spans [][2]int
	for _, pattern := range patterns {
		for _, m := range pattern.FindAllSubmatchIndex(text[start:end], -1) {
			spans = append(spans, [2]int{start + m[2], start + m[3]})
		}
	}
	return spans
}

// benchmarkNames are the members that hold names of benchmarks.
var benchmarkNames = map[string]bool{"name": true, "run_name": true, "fullname": true}

// secretMembers adds the values of telling members and what is secret inside
// other texts, however deep.
func secretMembers(text []byte, v jsondoc.Value, spans [][2]int) [][2]int {
	for name, member := range v.Members() {
		start, end := member.Span()
		switch key := name.Text(); {
		case key == "setup_data" && member.Kind() != jsondoc.Null,
			member.Kind() == jsondoc.String && secretMember.MatchString(key):
			spans = append(spans, [2]int{start, end})
		case member.Kind() == jsondoc.String && benchmarkNames[key]:
			spans = append(spans, secretsIn(text, start, end, secretsInText[:1])...)
		default:
			spans = secretMembers(text, member, spans)
		}
	}
	for item := range v.Items() {
		spans = secretMembers(text, item, spans)
	}
	if v.Kind() == jsondoc.String {
		start, end := v.Span()
		spans = append(spans, secretsIn(text, start, end, secretsInText)...)
	}
	return spans
}
