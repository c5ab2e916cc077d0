package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// printWrapped prints text behind a label, broken at spaces to fit 80 columns,
// each further line indented as the label is long. No text prints nothing.
func printWrapped(w io.Writer, label, text string) {
	indent := strings.Repeat(" ", len(label))
	line := label
	empty := true
	for _, word := range strings.Fields(visible(text)) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > terminalWidth {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	if !empty {
		fmt.Fprintln(w, line)
	}
}
