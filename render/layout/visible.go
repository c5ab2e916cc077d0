package layout

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns text with everything that acts instead of being seen turned
// into something that is seen: control characters, direction marks and other
// invisible characters become their code point (‹U+202E›), and invalid UTF-8
// U+FFFD. The result is one line.
func Visible(text string) string { return visible(text, false) }

// VisibleLines is Visible for text that may have lines: line feeds and tabs
// stay, and a carriage return before a line feed is dropped.
func VisibleLines(text string) string {
	return visible(strings.ReplaceAll(text, "\r\n", "\n"), true)
}

func visible(text string, lines bool) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return acts(r) }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !acts(r) || lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == utf8.RuneError:
			b.WriteRune(utf8.RuneError)
		default:
			fmt.Fprintf(&b, "‹U+%04X›", r)
		}
	}
	return b.String()
}

// acts reports whether r is not simply drawn: controls, format characters,
// separators of lines and paragraphs, non-characters, and the mark of invalid
// UTF-8, which must be written anew to be valid.
func acts(r rune) bool {
	if r >= 0x20 && r < 0x7f {
		return false
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) ||
		r&0xfffe == 0xfffe || (r >= 0xfdd0 && r <= 0xfdef)
}
