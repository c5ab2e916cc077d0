package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pairbench/collect/plan"
)

const root = "../.."

func readDoc(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readme(t *testing.T) string {
	t.Helper()
	return readDoc(t, filepath.Join(root, "README.md"))
}

// commandLines are the command lines that the README and the manual show,
// without the name of the program.
func commandLines(t *testing.T) []string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(readDoc(t, "doc.go")) {
		if after, ok := strings.CutPrefix(line, "//\tpairbench "); ok {
			lines = append(lines, after)
		}
	}
	text := readme(t)
	for line := range strings.Lines(text) {
		if after, ok := strings.CutPrefix(line, "pairbench "); ok {
			lines = append(lines, after)
		}
	}
	for _, m := range regexp.MustCompile("`pairbench ([^`]+)`").FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[1])
	}
	if len(lines) < 30 {
		t.Fatalf("found only %d command lines", len(lines))
	}
	for i, line := range lines {
		line, _, _ = strings.Cut(line, " #")
		lines[i] = strings.TrimSpace(line)
	}
	return lines
}

func TestDocumentedCommandsAndFlagsExist(t *testing.T) {
	app := newApp(streams{})
	flag := regexp.MustCompile(`--([a-z][a-z-]*)`)
	for _, line := range commandLines(t) {
		name, rest, _ := strings.Cut(line, " ")
		c := app.Command(name)
		if c == nil {
			t.Errorf("pairbench %s: there is no command %s", line, name)
			continue
		}
		known := map[string]bool{}
		for _, f := range c.Flags {
			for _, name := range f.Names() {
				known[name] = true
			}
		}
		for _, m := range flag.FindAllStringSubmatch(rest, -1) {
			if !known[m[1]] {
				t.Errorf("pairbench %s: %s has no flag --%s", line, name, m[1])
			}
		}
	}
}

// TestDocumentedCommandsRun runs the lines that measure nothing and leave
// nothing to be filled in.
func TestDocumentedCommandsRun(t *testing.T) {
	toFillIn := regexp.MustCompile(`[A-Z\[]`)
	ran := 0
	for _, line := range commandLines(t) {
		args := append([]string{"pairbench"}, strings.Fields(line)...)
		switch args[1] {
		case "plan", "plans", "schema":
		default:
			continue
		}
		if toFillIn.MatchString(line) {
			continue
		}
		var out, errs bytes.Buffer
		if code := run(context.Background(), args, streams{&out, &errs}); code != exitOK || out.Len() == 0 || errs.Len() > 0 {
			t.Errorf("pairbench %s: exit code %d, %d bytes of output, errors %q", line, code, out.Len(), errs.String())
		}
		ran++
	}
	if ran < 3 {
		t.Errorf("ran %d lines, expected 3 or more", ran)
	}
}

func TestDocumentedPlansAreValid(t *testing.T) {
	plans := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readme(t), -1)
	if len(plans) < 3 {
		t.Fatalf("found %d plans, expected 3 or more", len(plans))
	}
	for _, m := range plans {
		if _, err := plan.Parse([]byte(m[1]), "README.md"); err != nil {
			t.Errorf("%v in\n%s", err, m[1])
		}
	}
}

func TestReadmeNamesTheExitCodesOfTheManual(t *testing.T) {
	codes := regexp.MustCompile(`(?m)^//\t(\d+) +\w`).FindAllStringSubmatch(readDoc(t, "doc.go"), -1)
	if len(codes) != 8 {
		t.Errorf("the manual has %d exit codes, expected 8", len(codes))
	}
	text := strings.Join(strings.Fields(readme(t)), " ")
	for _, m := range codes {
		if !regexp.MustCompile(`[:,] ` + m[1] + ` [a-z]`).MatchString(text) {
			t.Errorf("README.md does not name exit code %s", m[1])
		}
	}
}

func TestReadmeShowsFilesThatExist(t *testing.T) {
	shown := regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(readme(t), -1)
	if len(shown) == 0 {
		t.Fatal("found no picture")
	}
	for _, m := range shown {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Error(err)
		}
	}
}
