package render

import (
	"io"
	"strings"
	"unicode"

	"pairbench/analyze/report"
	"pairbench/render/i18n"
	"pairbench/render/layout"
)

// Terminal writes a summary of a valid report that no line of is wider than
// width columns (at least 40), Chinese characters counting as two. Foreign text
// is made visible first, so nothing in it can drive the terminal.
func Terminal(w io.Writer, r *report.Report, lang string, width int) error {
	words, ok := i18n.For(lang)
	if !ok {
		return &UnknownError{"language", lang, Languages()}
	}
	width = max(width, 40)
	t := &terminal{width: width}
	title, lead := layout.Heading(r, words)
	t.wrap(title)
	t.wrap(lead)
	if r.Study.AA {
		t.wrap(words.Sentences.AA)
	}
	t.wrap(layout.Errors(&r.Totals, words))
	all := layout.Overviews(r, words)
	head := [4]string{words.Columns.Metric, words.Columns.Change, words.Names.Median, words.Terminal.Overlap}
	if r.Study.AA {
		head[1] = words.Terminal.Difference
	}
	var widths [4]int
	grow := func(row [4]string) {
		for i, text := range row {
			widths[i] = max(widths[i], columns(text))
		}
	}
	grow(head)
	for _, suite := range all {
		for _, l := range suite.Lines {
			grow(fields(l))
		}
	}
	for _, suite := range all {
		t.line("")
		t.line(suite.Suite)
		t.row(head, widths)
		for _, l := range suite.Lines {
			t.row(fields(l), widths)
		}
	}
	if len(r.Failures) > 0 {
		const most = 5
		t.line("")
		t.line(words.Headings.Failures)
		for i, f := range r.Failures {
			if i == most {
				t.line("  … " + words.Terminal.MoreFailures)
				break
			}
			t.line("  " + layout.Visible(f.ProcessID) + words.Colon + layout.Visible(words.Names.Outcome(string(f.Outcome))))
		}
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

func fields(l layout.OverviewLine) [4]string {
	row := [4]string{l.Metric, l.Changes, l.Median, l.Overlap}
	for i := range row {
		if row[i] == "" {
			row[i] = "—"
		}
	}
	return row
}

type terminal struct {
	b     strings.Builder
	width int
}

// line writes one line, cut to the width with an ellipsis.
func (t *terminal) line(text string) {
	t.b.WriteString(cut(text, t.width))
	t.b.WriteByte('\n')
}

// wrap breaks text at spaces, and between Chinese characters.
func (t *terminal) wrap(text string) {
	for columns(text) > t.width {
		at, used := 0, 0
		for i, r := range text {
			if used += runeColumns(r); used > t.width {
				break
			}
			if r == ' ' || runeColumns(r) == 2 {
				at = i + len(string(r))
			}
		}
		if at == 0 {
			break
		}
		t.line(strings.TrimRight(text[:at], " "))
		text = text[at:]
	}
	t.line(text)
}

// row sets the first field to the left and the others to the right.
func (t *terminal) row(row [4]string, widths [4]int) {
	line := "  " + row[0] + strings.Repeat(" ", widths[0]-columns(row[0]))
	for i := 1; i < len(row); i++ {
		line += strings.Repeat(" ", 2+widths[i]-columns(row[i])) + row[i]
	}
	t.line(line)
}

func cut(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	var b strings.Builder
	used := 1
	for _, r := range text {
		if used += runeColumns(r); used > width {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}

func columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

// runeColumns is the number of terminal columns of a character: two for the
// wide scripts, none for combining marks.
func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0x303e, r >= 0x3041 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff01 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	default:
		return 1
	}
}
