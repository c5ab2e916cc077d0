package layout

import (
	"strconv"

	"pairbench/analyze/report"
	"pairbench/records"
	"pairbench/render/numfmt"
)

// maxOutput bounds how much of a process's output a document repeats; the
// bundle has all of it.
const maxOutput = 2000

// groups lists the processes behind every cell.
func (b *builder) groups() {
	for i := range b.r.Suites {
		s := &b.r.Suites[i]
		g := Group{Suite: b.suiteTitle(s)}
		styles := make([]numfmt.Style, len(s.Metrics))
		for m := range s.Metrics {
			styles[m] = b.style(s, s.Metrics[m])
			g.Metrics = append(g.Metrics, b.metricTitle(s, s.Metrics[m]))
		}
		figure, panels := b.distribution(i)
		if figure != nil {
			b.doc.Distributions = append(b.doc.Distributions, figure)
		}
		for ci := range s.Cells {
			c := &s.Cells[ci]
			cell := CellProcesses{Title: b.cellTitle(s, c), ID: Visible(c.ID), Notes: b.cellNotes(s, c, nil)}
			if figure != nil && panels[ci] >= 0 {
				cell.Latency, cell.Panel = figure, panels[ci]
			}
			for p := range c.Processes {
				cell.Processes = append(cell.Processes, b.process(&c.Processes[p], styles))
			}
			g.Cells = append(g.Cells, cell)
		}
		b.doc.Groups = append(b.doc.Groups, g)
	}
}

func (b *builder) process(p *report.Process, styles []numfmt.Style) Process {
	w := b.w
	out := Process{
		Number: strconv.Itoa(int(p.ProcessNo)), Arm: b.arm(side(p.Side)), Side: side(p.Side),
		Round: strconv.Itoa(int(p.Round)), Slot: strconv.Itoa(int(p.Slot)), Order: w.Sentences.SecondOfPair,
		Outcome: Visible(w.Names.Outcome(string(p.Outcome))), Failed: p.Outcome != records.OutcomeOK,
	}
	if p.FirstInPair {
		out.Order = w.Sentences.FirstOfPair
	}
	for m, v := range p.Values {
		if v == nil {
			out.Values = append(out.Values, Cell{Text: absent, Tone: Quiet})
			continue
		}
		out.Values = append(out.Values, Cell{Text: styles[m].Format(v.Rat()), Sort: float(v)})
	}
	fact := func(name, value string) {
		if value != "" {
			out.Facts = append(out.Facts, Fact{name, value})
		}
	}
	if !p.StartedAt.IsZero() {
		out.Started = instant(p.StartedAt)
	}
	fact(w.Columns.Process, Visible(p.ProcessID))
	fact(w.Columns.Detail, Visible(p.Detail))
	switch {
	case p.Signal != nil:
		fact(w.Columns.Exit, w.Sentences.Signal(strconv.Itoa(int(*p.Signal))))
	case p.ExitCode != nil:
		fact(w.Columns.Exit, strconv.Itoa(int(*p.ExitCode)))
	}
	count := func(name string, n *int64) {
		if n != nil {
			fact(name, numfmt.Count(*n))
		}
	}
	count(w.Columns.Operations, p.MeasuredOperations)
	if p.ElapsedNs != nil {
		fact(w.Columns.Elapsed, numfmt.Seconds().FormatInt(*p.ElapsedNs))
	}
	count(w.Columns.Samples, p.SampleCount)
	if p.SampleFile != "" {
		fact(w.Columns.SampleFile, Visible(p.SampleFile))
		fact(w.Columns.Hash, Visible(p.SampleSHA256))
	} else {
		fact(w.Columns.SampleFile, w.Sentences.NoSamples)
	}
	out.Stdout = b.output(w.Columns.Stdout, p.Stdout, p.StdoutBytes)
	out.Stderr = b.output(w.Columns.Stderr, p.Stderr, p.StderrBytes)
	if p.StdoutBytes > 0 {
		fact(w.Columns.Stdout, Visible(p.StdoutSHA256))
	}
	if p.StderrBytes > 0 {
		fact(w.Columns.Stderr, Visible(p.StderrSHA256))
	}
	for _, text := range b.notes(p.Notes) {
		fact(w.Headings.Notes, text)
	}
	return out
}

func (b *builder) output(title, text string, bytes int64) *Output {
	if bytes == 0 && text == "" {
		return nil
	}
	o := &Output{Title: title}
	if len(text) > maxOutput {
		text = text[:maxOutput]
	}
	if int64(len(text)) < bytes {
		o.Cut = b.w.Sentences.MoreOutput(numfmt.Count(bytes) + " B")
	}
	o.Text = VisibleLines(text)
	return o
}
