package markdown

import (
	"strings"

	"pairbench/render/chart"
	"pairbench/render/i18n"
	"pairbench/render/layout"
)

// Options say what stands beside the file.
type Options struct {
	// Charts says that figures are under charts/, as ChartFile names them.
	Charts bool
}

// Write returns the document as Markdown, UTF-8, with line feeds.
func Write(d *layout.Document, w *i18n.Words, opt Options) []byte {
	m := &writer{w: w, opt: opt}
	m.line("# " + escape(d.Title))
	m.line("**" + escape(d.Lead) + "**")
	var facts []string
	for _, f := range d.Facts {
		facts = append(facts, escape(f.Name)+w.Colon+escape(f.Value))
	}
	m.line(strings.Join(facts, " · "))
	for _, s := range d.Sections {
		m.line("## " + escape(s.Title))
		m.blocks(s.Blocks)
	}
	if len(d.Distributions) > 0 && opt.Charts {
		m.line("## " + w.Headings.Distribution)
		for _, f := range d.Distributions {
			m.figure(f, f.Description)
		}
	}
	return []byte(strings.TrimRight(m.b.String(), "\n") + "\n")
}

type writer struct {
	b   strings.Builder
	w   *i18n.Words
	opt Options
}

// line writes a block and the empty line after it.
func (m *writer) line(text string) {
	m.b.WriteString(text)
	m.b.WriteString("\n\n")
}

func (m *writer) blocks(blocks []layout.Block) {
	for _, b := range blocks {
		switch b := b.(type) {
		case layout.Paragraph:
			m.line(escape(b.Text))
		case layout.Callout:
			m.line("> **" + escape(b.Text) + "**")
		case layout.List:
			for _, item := range b.Items {
				m.b.WriteString("- " + escape(item) + "\n")
			}
			m.b.WriteByte('\n')
		case layout.Code:
			m.line("```sh\n" + b.Text + "\n```")
		case layout.Subheading:
			m.line("### " + escape(b.Title))
		case layout.Details:
			m.line("#### " + escape(b.Summary))
			m.blocks(b.Blocks)
		case layout.Figure:
			if m.opt.Charts {
				m.figure(b.Chart, b.Caption)
			}
		case *layout.Table:
			m.table(b)
		}
	}
}

func (m *writer) figure(f *chart.Figure, caption string) {
	m.line("![" + escape(f.Title) + "](charts/" + chart.FileName(f, m.w.Tag) + ".svg)")
	m.line("*" + escape(caption) + "*")
}

func (m *writer) table(t *layout.Table) {
	if t.Title != "" {
		m.line("**" + escape(t.Title) + "**")
	}
	m.b.WriteByte('|')
	for _, c := range t.Columns {
		m.b.WriteString(" " + escape(c.Title) + " |")
	}
	m.b.WriteString("\n|")
	for _, c := range t.Columns {
		if c.Numeric {
			m.b.WriteString(" ---: |")
		} else {
			m.b.WriteString(" --- |")
		}
	}
	m.b.WriteByte('\n')
	for _, r := range t.Rows {
		m.b.WriteByte('|')
		for _, c := range r.Cells {
			text := escape(c.Text)
			if c.Tone == layout.Mono {
				text = code(c.Text)
			}
			if c.Hint != "" {
				text += " (" + escape(c.Hint) + ")"
			}
			m.b.WriteString(" " + text + " |")
		}
		m.b.WriteByte('\n')
	}
	m.b.WriteByte('\n')
	var below []string
	if t.Caption != "" {
		below = append(below, escape(t.Caption))
	}
	for _, path := range t.Data {
		below = append(below, "["+escape(strings.TrimPrefix(path, "csv/"))+"]("+path+")")
	}
	if len(below) > 0 {
		m.line(strings.Join(below, " · "))
	}
}

// escape makes text literal. Line ends are already gone (layout.Visible), and a
// sign that acts only in some places is escaped only there: the brackets of a
// range and the sign of a change stay as they are.
func escape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(' ')
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch c {
		case '<':
			b.WriteString("&lt;")
			continue
		case '>':
			b.WriteString("&gt;")
			continue
		case '&':
			b.WriteString("&amp;")
			continue
		case '@':
			b.WriteString("&#64;")
			continue
		case ':':
			if strings.HasPrefix(text[i:], "://") {
				b.WriteString("&#58;")
				continue
			}
		case '\\', '`', '*', '|', '~', '$':
			b.WriteByte('\\')
		case '_':
			if i == 0 || !alphanumeric(text[i-1]) || !alphanumeric(next) {
				b.WriteByte('\\')
			}
		case '[':
			if i == 0 {
				b.WriteByte('\\')
			}
		case ']':
			if next == '(' || next == '[' || next == ':' {
				b.WriteByte('\\')
			}
		case '!':
			if next == '[' {
				b.WriteByte('\\')
			}
		case '#', '=':
			if i == 0 {
				b.WriteByte('\\')
			}
		case '-', '+':
			if i == 0 && (next == ' ' || next == c) {
				b.WriteByte('\\')
			}
		case '.', ')':
			if i > 0 && next == ' ' && strings.Trim(text[:i], "0123456789") == "" {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// code sets a hash, a path or an identifier in backticks, and escapes anything
// else.
func code(text string) string {
	plain := text != ""
	for i := 0; i < len(text); i++ {
		plain = plain && (alphanumeric(text[i]) || strings.IndexByte("._-/", text[i]) >= 0)
	}
	if !plain {
		return escape(text)
	}
	return "`" + text + "`"
}
