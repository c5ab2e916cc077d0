package main

import (
	"strconv"
	"strings"
	"unicode"
)

// visible returns text that came from a file, a plan or the command line as it
// may be printed on a terminal: control and direction marks are escaped.
func visible(text string) string {
	clean := func(r rune) bool { return r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) }
	if strings.IndexFunc(text, func(r rune) bool { return !clean(r) }) < 0 {
		return text
	}
	quoted := strconv.QuoteToGraphic(text)
	return quoted[1 : len(quoted)-1]
}
