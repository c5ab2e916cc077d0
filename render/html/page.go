package html

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	stdhtml "html"
	"strconv"
	"strings"

	"pairbench/render/chart"
	"pairbench/render/i18n"
	"pairbench/render/layout"
	"pairbench/render/numfmt"
)

//go:embed style.css
var style string

//go:embed script.js
var script string

// Options say what stands beside the page.
type Options struct {
	// Others are the languages of the sibling pages, named by FileName.
	Others []string
	// Charts says that figures are under charts/ as well.
	Charts bool
}

// FileName is the name of the page in a language.
func FileName(lang string) string { return "report." + lang + ".html" }

// Write returns the document as a page.
func Write(d *layout.Document, w *i18n.Words, painter *chart.Painter, opt Options) []byte {
	p := &page{d: d, w: w, painter: painter, opt: opt}
	p.b.Grow(1 << 20)
	p.head()
	p.contents()
	p.raw(`<main id="main">`)
	p.title()
	for _, s := range d.Sections {
		p.raw(`<section id="`, s.ID, `"><h2>`)
		p.text(s.Title)
		p.raw(`</h2>`)
		p.blocks(s.Blocks)
		p.raw("</section>\n")
	}
	p.processes()
	p.raw(`<footer>`)
	p.text(w.Page.DrillHint)
	p.raw("</footer></main></div>\n<dialog id=\"drill\" aria-labelledby=\"drill-title\"><form method=\"dialog\"><h2 id=\"drill-title\"></h2><button>")
	p.text(w.Page.Close)
	p.raw("</button></form><div></div></dialog>\n<script>", script, "</script></body></html>\n")
	return []byte(p.b.String())
}

type page struct {
	b       strings.Builder
	d       *layout.Document
	w       *i18n.Words
	painter *chart.Painter
	opt     Options
	figures int // drawn so far, for unique ids
}

// raw writes markup, text writes words: nothing foreign goes through raw.
func (p *page) raw(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

func (p *page) text(s string) { p.b.WriteString(stdhtml.EscapeString(s)) }

func (p *page) attr(name, value string) {
	p.raw(` `, name, `="`)
	p.text(value)
	p.raw(`"`)
}

func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (p *page) head() {
	p.raw(`<!doctype html><html`)
	p.attr("lang", p.d.Lang)
	p.raw(`><head><meta charset="utf-8">`,
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src `, hash(style), `; script-src `, hash(script), `; base-uri 'none'; form-action 'none'">`,
		`<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">`,
		`<meta name="generator" content="pairbench"><title>`)
	p.text(p.d.Title)
	p.raw("</title>\n<style>", style, "</style></head>\n<body")
	words := p.w.Page
	p.attr("data-filter", words.Filter)
	p.attr("data-hint", words.FilterHint)
	p.attr("data-rows", words.RowsShown)
	p.attr("data-none", words.NoMatch)
	p.attr("data-sort", words.Sort)
	p.raw(`><a class="skip" href="#main">`)
	p.text(words.SkipToContent)
	p.raw(`</a>`)
}

func (p *page) contents() {
	p.raw(`<div class="page"><nav`)
	p.attr("aria-label", p.w.Page.Contents)
	p.raw(`><p class="brand">pairbench</p><ol>`)
	item := func(id, title string) {
		p.raw(`<li><a href="#`, id, `">`)
		p.text(title)
		p.raw(`</a>`)
	}
	for _, s := range p.d.Sections {
		item(s.ID, s.Title)
		open := false
		for _, b := range s.Blocks {
			if h, ok := b.(layout.Subheading); ok {
				if !open {
					p.raw(`<ol>`)
					open = true
				}
				item(h.ID, h.Title)
				p.raw(`</li>`)
			}
		}
		if open {
			p.raw(`</ol>`)
		}
		p.raw(`</li>`)
	}
	item("processes", p.w.Headings.Processes)
	p.raw("</li></ol></nav>\n")
}

func (p *page) title() {
	p.raw(`<header><p class="langs">`)
	for _, other := range p.opt.Others {
		words, ok := i18n.For(other)
		if !ok {
			continue
		}
		p.raw(`<a class="lang" rel="alternate"`)
		p.attr("lang", other)
		p.attr("hreflang", other)
		p.attr("href", FileName(other))
		p.raw(`>`)
		p.text(words.Language)
		p.raw(`</a> `)
	}
	p.raw(`</p><h1>`)
	p.text(p.d.Title)
	p.raw(`</h1><p class="lead">`)
	p.text(p.d.Lead)
	p.raw(`</p><dl class="facts">`)
	for _, f := range p.d.Facts {
		p.raw(`<div><dt>`)
		p.text(f.Name)
		p.raw(`</dt><dd>`)
		p.text(f.Value)
		p.raw(`</dd></div>`)
	}
	p.raw("</dl></header>\n")
}

func (p *page) blocks(blocks []layout.Block) {
	for _, b := range blocks {
		switch b := b.(type) {
		case layout.Paragraph:
			p.element("p", b.Text)
		case layout.Callout:
			p.raw(`<p class="callout" role="note">`)
			p.text(b.Text)
			p.raw(`</p>`)
		case layout.Highlights:
			p.highlights(b)
		case layout.List:
			p.raw(`<ul>`)
			for _, item := range b.Items {
				p.element("li", item)
			}
			p.raw(`</ul>`)
		case layout.Code:
			p.element("pre", b.Text)
		case layout.Subheading:
			p.raw(`<h3 id="`, b.ID, `">`)
			p.text(b.Title)
			p.raw(`</h3>`)
		case layout.Details:
			p.raw(`<details class="fold"><summary>`)
			p.text(b.Summary)
			p.raw(`</summary>`)
			p.blocks(b.Blocks)
			p.raw(`</details>`)
		case layout.Figure:
			p.figure(b)
		case *layout.Table:
			p.table(b)
		}
		p.raw("\n")
	}
}

func (p *page) element(name, text string) {
	p.raw(`<`, name, `>`)
	p.text(text)
	p.raw(`</`, name, `>`)
}

func (p *page) highlights(h layout.Highlights) {
	p.raw(`<div class="cards">`)
	for _, item := range h.Items {
		p.raw(`<div class="card">`)
		p.element("p", item.Title)
		p.element("strong", item.Figure)
		p.element("p", item.Text)
		p.raw(`</div>`)
	}
	p.raw(`</div>`)
}

func (p *page) legend(f *chart.Figure) {
	p.raw(`<p class="legend"><span class="ka">`)
	p.text(f.Legend[0])
	p.raw(`</span><span class="kb">`)
	p.text(f.Legend[1])
	p.raw(`</span><span class="ky">`)
	p.text(f.Y)
	p.raw(`</span>`)
	if p.opt.Charts {
		name := "charts/" + chart.FileName(f, p.d.Lang)
		p.raw(`<span class="files"><a href="`, name, `.svg">`)
		p.text(p.w.Page.ChartFile)
		p.raw(`</a> <a href="`, name, `.vl.json">`)
		p.text(p.w.Page.VegaSpec)
		p.raw(`</a></span>`)
	}
	p.raw(`</p>`)
}

func (p *page) figure(fig layout.Figure) {
	f := fig.Chart
	p.raw(`<figure>`)
	p.legend(f)
	p.raw(`<div class="panels">`)
	for i := range f.Panels {
		p.panel(f, i, true)
	}
	p.raw(`</div><figcaption>`)
	p.text(fig.Caption)
	p.raw(`</figcaption></figure>`)
}

func (p *page) panel(f *chart.Figure, i int, titled bool) {
	p.figures++
	p.raw(`<div class="`, f.Width(i), `">`)
	if titled && f.Panels[i].Title != "" {
		p.element("h4", f.Panels[i].Title)
	}
	p.raw(p.painter.Panel(f, i, "f"+strconv.Itoa(p.figures)), `</div>`)
}

func (p *page) table(t *layout.Table) {
	p.raw(`<div class="tbl"`)
	if t.Filter {
		p.raw(` data-filter`)
	}
	p.raw(`><div class="scroll" tabindex="0" role="region" aria-label="`)
	title := t.Title
	if title == "" {
		title = t.Columns[0].Title
	}
	p.text(title)
	p.raw(`"><table id="`, t.ID, `">`)
	if t.Title != "" {
		p.element("caption", t.Title)
	}
	p.raw(`<thead><tr>`)
	for _, c := range t.Columns {
		if c.Numeric {
			p.raw(`<th scope="col" class="n">`)
		} else {
			p.raw(`<th scope="col">`)
		}
		p.breakable(c.Title)
		p.raw(`</th>`)
	}
	p.raw("</tr></thead><tbody>\n")
	for _, r := range t.Rows {
		p.raw(`<tr>`)
		for i, c := range r.Cells {
			p.cell(c, i < len(t.Columns) && t.Columns[i].Numeric)
		}
		p.raw("</tr>\n")
	}
	p.raw(`</tbody></table></div>`)
	if t.Caption != "" || len(t.Data) > 0 {
		p.raw(`<p class="under">`)
		p.text(t.Caption)
		for _, path := range t.Data {
			p.raw(` <a href="`, path, `">`)
			p.text(strings.TrimPrefix(path, "csv/"))
			p.raw(`</a>`)
		}
		p.raw(`</p>`)
	}
	p.raw(`</div>`)
}

// breakable lets a narrow column break a title after a slash.
func (p *page) breakable(title string) {
	for i, part := range strings.SplitAfter(title, "/") {
		if i > 0 {
			p.raw(`<wbr>`)
		}
		p.text(part)
	}
}

var tones = [...]string{layout.Plain: "", layout.Quiet: "q", layout.Alert: "al", layout.Mono: "mono"}

func (p *page) cell(c layout.Cell, numeric bool) {
	p.raw(`<td`)
	class := tones[c.Tone]
	if numeric {
		class = strings.TrimSpace("n " + class)
	}
	if class != "" {
		p.raw(` class="`, class, `"`)
	}
	if c.Sort != nil {
		p.raw(` data-v="`, strconv.FormatFloat(*c.Sort, 'g', 12, 64), `"`)
	}
	if c.Hint != "" {
		p.attr("title", c.Hint)
	}
	p.raw(`>`)
	if c.Behind != nil {
		b := c.Behind
		p.raw(`<a href="#`, cellID(b.Group, b.Cell), `" data-b="`, strconv.Itoa(b.Metric), `,`, strconv.Itoa(b.Side), `">`)
		p.number(c.Text)
		p.raw(`</a>`)
	} else {
		p.number(c.Text)
	}
	p.raw(`</td>`)
}

// number sets the range of a cell apart from its median, and two joined arms on
// lines of their own. The text stays as it is, character by character.
func (p *page) number(text string) {
	a, b, joined := strings.Cut(text, numfmt.Arrow)
	if !joined {
		p.median(text)
		return
	}
	p.raw(`<span class="l">`)
	p.median(a)
	p.raw(`</span> <span class="l">→ `)
	p.median(b)
	p.raw(`</span>`)
}

func (p *page) median(text string) {
	head, tail, ranged := strings.Cut(text, " [")
	p.text(head)
	if ranged {
		p.raw(` <i>`)
		p.text("[" + tail)
		p.raw(`</i>`)
	}
}

func cellID(group, cell int) string { return "p" + strconv.Itoa(group+1) + "-" + strconv.Itoa(cell+1) }
