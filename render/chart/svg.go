package chart

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"
	"unicode/utf8"
)

// Painter holds the parsed templates. It is safe for concurrent use.
type Painter struct{ templates *template.Template }

//go:embed svg.tmpl
var svgTemplates string

// NewPainter parses the templates, which are part of the program.
func NewPainter() *Painter {
	t := template.New("chart").Funcs(template.FuncMap{"x": escape, "n": coord})
	return &Painter{templates: template.Must(t.Parse(svgTemplates))}
}

// Panel draws one panel as an SVG element for a page that styles the classes of
// Style itself and shows title and legend beside it. idPrefix makes the ids of
// its title and description unique in the page.
func (p *Painter) Panel(f *Figure, panel int, idPrefix string) string {
	drawn := layPanel(f, &f.Panels[panel])
	drawn.ID = idPrefix
	return p.execute("panel", drawn)
}

// SVG draws the whole figure as a file of its own, with title, legend and a
// style for light and dark surroundings.
func (p *Painter) SVG(f *Figure) []byte {
	d := layFigure(f)
	d.Style = Style(false)
	return []byte(p.execute("figure", d))
}

// PlainSVG is SVG in the light colours alone, for converters that know no media
// queries.
func (p *Painter) PlainSVG(f *Figure) []byte {
	d := layFigure(f)
	d.Style = Style(true)
	return []byte(p.execute("figure", d))
}

func (p *Painter) execute(name string, data any) string {
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("chart template %s: %v", name, err)) // the template does not fit its data
	}
	return b.String()
}

// Style is the style sheet of a stand-alone figure; plain leaves out the dark
// colours. The class names are also those of Panel.
func Style(plain bool) string {
	const font = `svg{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC","PingFang SC","Microsoft YaHei","Hiragino Sans GB",sans-serif}`
	const light = `.bg{fill:#fff}.t{fill:#1b2430;font-weight:600}.k,.u{fill:#5b6675}.u{font-size:11px}.c{fill:#3c4654;font-size:10.5px}` +
		`.g{stroke:#e4e8ed}.z{stroke:#8a94a1}.a{fill:#93a1b3}.b{fill:#0e7c72}.w{stroke:#1b2430;fill:none;stroke-width:1.2}` +
		`.la,.lb{fill:none;stroke-width:1.4}.la{stroke:#7d8ca0}.lb{stroke:#0e7c72}.pa,.pb{fill:none;stroke-linecap:round;stroke-width:5}.pa{stroke:#7d8ca0}.pb{stroke:#0e7c72;stroke-linecap:square;stroke-width:4}`
	if plain {
		return font + light
	}
	return font + light + `@media(prefers-color-scheme:dark){.bg{fill:#14181d}.t{fill:#e6eaef}.k,.u{fill:#9aa5b3}.c{fill:#c3cbd5}` +
		`.g{stroke:#2a313a}.z{stroke:#67717e}.a{fill:#76859a}.b{fill:#36b8a9}.w{stroke:#e6eaef}.la,.pa{stroke:#8b9aae}.lb,.pb{stroke:#36b8a9}}`
}

// escape makes text safe inside XML text and attributes; what XML cannot hold
// becomes U+FFFD.
func escape(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' || r == '<' || r == '>' || r == '&' || r == '"' || r == '\'' || r == utf8.RuneError || r == 0xfffe || r == 0xffff
	}) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < ' ' || r == 0xfffe || r == 0xffff:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
