package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHelpFitsATerminal(t *testing.T) {
	lines := []string{"--help"}
	for _, c := range newApp(streams{}).Commands {
		lines = append(lines, c.Name+" --help")
	}
	for _, line := range lines {
		var out, errs bytes.Buffer
		args := append([]string{"pairbench"}, strings.Fields(line)...)
		if code := run(context.Background(), args, streams{&out, &errs}); code != exitOK || errs.Len() > 0 {
			t.Errorf("%s: exit code %d, %s", line, code, errs.String())
		}
		if !strings.Contains(out.String(), "usage: pairbench ") {
			t.Errorf("%s: no usage in it:\n%s", line, out.String())
		}
		for text := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(text, "\n")); n > terminalWidth {
				t.Errorf("%s: %d columns: %s", line, n, text)
			}
		}
	}
}
