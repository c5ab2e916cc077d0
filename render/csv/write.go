package csv

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// table collects rows as RFC 4180 text. encoding/csv is of no use here: with
// CRLF line ends it rewrites line feeds inside fields.
type table struct{ b strings.Builder }

// field is a value that is written as it stands, or Text that is guarded.
type field struct {
	text    string
	guarded bool
}

// value is a field that this package made itself: a number, a flag, a code.
func value(text string) field { return field{text: text} }

// foreign is a field that came from a plan or a process.
func foreign(text string) field { return field{text: text, guarded: true} }

func (t *table) row(fields ...field) {
	for i, f := range fields {
		if i > 0 {
			t.b.WriteByte(',')
		}
		text := strings.ToValidUTF8(f.text, "\uFFFD")
		if f.guarded {
			text = Guard(text)
		}
		if strings.ContainsAny(text, "\",\r\n") || text != strings.TrimSpace(text) {
			t.b.WriteByte('"')
			t.b.WriteString(strings.ReplaceAll(text, `"`, `""`))
			t.b.WriteByte('"')
		} else {
			t.b.WriteString(text)
		}
	}
	t.b.WriteString("\r\n")
}

// Guard puts an apostrophe before a text that a spreadsheet could run as a
// formula: one whose first visible character is = + - @ or a wide form of them,
// or that starts with a tab, a line end or an apostrophe.
func Guard(text string) string {
	if text == "" {
		return text
	}
	if strings.ContainsRune("\t\r\n'", rune(text[0])) {
		return "'" + text
	}
	rest := strings.TrimLeftFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '"'
	})
	if first, _ := utf8.DecodeRuneInString(rest); rest != "" && strings.ContainsRune("=+-@＝＋－＠|%", first) {
		return "'" + text
	}
	return text
}

// Unguard takes Guard's apostrophe off.
func Unguard(text string) string { return strings.TrimPrefix(text, "'") }
