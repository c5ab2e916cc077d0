package importer

import (
	"slices"

	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
	"pairbench/collect/redact"
)

// maxSecrets bounds what is taken out of one file; no result has as many.
const maxSecrets = 100_000

// span is where a secret stands in a file. It may be a whole value of JSON.
type span struct {
	start, end int
	value      bool
}

// spansOf places what was found in a part of a file that begins at an offset.
func spansOf(found []redact.Span, offset int) []span {
	out := make([]span, len(found))
	for i, s := range found {
		out[i] = span{start: offset + s.Start, end: offset + s.End}
	}
	return out
}

// textSecrets finds the secrets of a file, which are taken out before anything
// reads it.
func textSecrets(text []byte) ([]span, error) { return spansOf(redact.Find(text, maxSecrets), 0), nil }

// nameSecrets finds them in a text that is all names of benchmarks, such as
// Parse/token=ident, where only passwords in front of a host are secrets.
func nameSecrets(text []byte) ([]span, error) {
	return spansOf(redact.HostPasswords(text, maxSecrets), 0), nil
}

// jsonSecrets finds them in JSON: every value of a member with a telling name,
// all that k6 keeps of a test's setup, and what is secret inside other texts.
// What is no JSON is an error.
func jsonSecrets(text []byte) ([]span, error) {
	root, err := jsondoc.Parse(text)
	if err != nil {
		return nil, err
	}
	start, _ := root.Span()
	return secretMembers(text, root, spansOf(redact.Find(text[:start], maxSecrets), 0)), nil
}

// benchmarkNames are the members that hold names of benchmarks.
var benchmarkNames = map[string]bool{"name": true, "run_name": true, "fullname": true}

// secretMembers adds the values of telling members and what is secret inside
// other texts, however deep.
func secretMembers(text []byte, v jsondoc.Value, spans []span) []span {
	for name, member := range v.Members() {
		if len(spans) > maxSecrets {
			return spans
		}
		start, end := member.Span()
		switch key := name.Text(); {
		case key == "setup_data" && member.Kind() != jsondoc.Null,
			member.Kind() == jsondoc.String && redact.Name(key):
			spans = append(spans, span{start, end, true})
		case member.Kind() == jsondoc.String && benchmarkNames[key]:
			spans = append(spans, spansOf(redact.HostPasswords(text[start:end], maxSecrets), start)...)
		default:
			spans = secretMembers(text, member, spans)
		}
	}
	for item := range v.Items() {
		if len(spans) > maxSecrets {
			return spans
		}
		spans = secretMembers(text, item, spans)
	}
	if v.Kind() == jsondoc.String {
		start, end := v.Span()
		spans = append(spans, spansOf(redact.Find(text[start:end], maxSecrets), start)...)
	}
	return spans
}

// without returns the file with a mark in place of each span. A whole value of
// JSON becomes a text, and one that holds nothing is no secret.
func without(src result.Source, spans []span) result.Source {
	spans = slices.DeleteFunc(spans, func(s span) bool {
		text := string(src.Data[s.start:min(s.end, s.start+len(redact.Mark)+2)])
		return text == "" || text == `""` || text == redact.Mark || text == `"`+redact.Mark+`"`
	})
	if len(spans) == 0 {
		return src
	}
	slices.SortFunc(spans, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	var out []byte
	done := 0
	for _, s := range spans {
		if s.end <= done {
			continue // inside one that is gone already
		}
		out = append(out, src.Data[done:max(done, s.start)]...)
		mark := redact.Mark
		if s.value {
			mark = `"` + mark + `"`
		}
		out = append(out, mark...)
		done = s.end
		src.Redacted++
	}
	src.Data = append(out, src.Data[done:]...)
	return src
}
