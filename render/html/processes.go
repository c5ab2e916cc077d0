package html

import (
	"strconv"

	"pairbench/render/layout"
)

// processes writes every process behind the tables, folded cell by cell. The
// id stands inside the fold: a link to it makes the browser open the fold.
func (p *page) processes() {
	w := p.w
	p.raw(`<section id="processes"><h2>`)
	p.text(w.Headings.Processes)
	p.raw(`</h2>`)
	p.element("p", w.Sentences.ProcessesIntro)
	for gi, g := range p.d.Groups {
		p.element("h3", g.Suite)
		for ci := range g.Cells {
			c := &g.Cells[ci]
			p.raw(`<details class="cell"><summary>`)
			p.text(c.Title)
			p.raw(` <small>`)
			p.text(c.ID)
			p.raw(`</small></summary><div id="`, cellID(gi, ci), `"`)
			p.attr("data-title", g.Suite+" · "+c.Title)
			p.raw(`>`)
			p.cellProcesses(&g, c)
			p.raw("</div></details>\n")
		}
	}
	p.raw("</section>\n")
}

func (p *page) cellProcesses(g *layout.Group, c *layout.CellProcesses) {
	cols := p.w.Columns
	if len(c.Notes) > 0 {
		p.raw(`<ul class="notes">`)
		for _, n := range c.Notes {
			p.element("li", n)
		}
		p.raw(`</ul>`)
	}
	p.raw(`<div class="scroll" tabindex="0" role="region"`)
	p.attr("aria-label", p.w.Headings.Processes)
	p.raw(`><table class="proc"><thead><tr>`)
	for _, title := range []string{cols.Slot, cols.Arm, cols.Round, cols.First} {
		p.element("th", title)
	}
	for _, title := range g.Metrics {
		p.raw(`<th class="n">`)
		p.text(title)
		p.raw(`</th>`)
	}
	p.element("th", cols.Outcome)
	p.raw(`</tr></thead><tbody>`)
	span := strconv.Itoa(5 + len(g.Metrics))
	for i := range c.Processes {
		p.process(&c.Processes[i], span)
	}
	p.raw(`</tbody></table></div>`)
	if c.Latency != nil {
		p.raw(`<figure class="small">`)
		p.element("h4", p.w.Headings.Distribution+" ("+c.Latency.X+")")
		p.raw(`<p class="legend"><span class="ka">`)
		p.text(c.Latency.Legend[0])
		p.raw(`</span><span class="kb">`)
		p.text(c.Latency.Legend[1])
		p.raw(`</span></p>`)
		p.panel(c.Latency, c.Panel, false)
		p.raw(`<figcaption>`)
		p.text(c.Latency.Description)
		p.raw(`</figcaption></figure>`)
	}
}

func (p *page) process(q *layout.Process, span string) {
	class := [...]string{"sa", "sb"}[q.Side]
	if q.Failed {
		class += " failed"
	}
	p.raw(`<tr class="`, class, `"><td class="n">`, q.Slot, `</td><td class="arm">`)
	p.text(q.Arm)
	p.raw(`</td><td class="n">`, q.Round, `</td><td>`)
	p.text(q.Order)
	p.raw(`</td>`)
	for _, v := range q.Values {
		p.raw(`<td class="n">`)
		p.text(v.Text)
		p.raw(`</td>`)
	}
	p.raw(`<td class="out">`)
	p.text(q.Outcome)
	p.raw(`</td></tr><tr class="more"><td colspan="`, span, `"><details><summary>`)
	p.text(p.w.Columns.Process + " " + q.Number)
	if q.Started != "" {
		p.text(" · " + q.Started + " UTC")
	}
	p.raw(`</summary><dl>`)
	for _, f := range q.Facts {
		p.raw(`<dt>`)
		p.text(f.Name)
		p.raw(`</dt><dd>`)
		p.text(f.Value)
		p.raw(`</dd>`)
	}
	p.raw(`</dl>`)
	p.output(p.w.Columns.Stdout, q.Stdout)
	p.output(p.w.Columns.Stderr, q.Stderr)
	p.raw(`</details></td></tr>`)
}

func (p *page) output(title string, o *layout.Output) {
	p.raw(`<p class="stream">`)
	p.text(title + p.w.Colon)
	if o == nil {
		p.text(p.w.Sentences.NoOutput)
		p.raw(`</p>`)
		return
	}
	p.text(o.Cut)
	p.raw(`</p><pre dir="ltr">`)
	// A line end right after the tag would be dropped.
	p.raw("\n")
	p.text(o.Text)
	p.raw(`</pre>`)
}
