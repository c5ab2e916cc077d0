package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"pairbench/collect"
)

// progress shows where a collection stands: one line that is rewritten on a
// terminal, and plain lines, a few in a minute, elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	width    int
	// last is when the last plain line was written, as time since the start.
	last  time.Duration
	phase string
	open  bool
}

// plainEvery is the least time between two plain lines of one phase.
const plainEvery = 15 * time.Second

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, last: -plainEvery}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal, p.width = true, 80
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			p.width = width
		}
	}
	return p
}

func (p *progress) show(at collect.Progress) {
	text := fmt.Sprintf("%-7s %d/%d", at.Phase, at.Done, at.Total)
	if at.Failed > 0 {
		text += fmt.Sprintf(", %d failed", at.Failed)
	}
	if at.Left > 0 {
		text += fmt.Sprintf(", about %s left", roughly(at.Left))
	}
	if at.Next != nil {
		text += "  " + visible(at.Next.ProcessID)
	}
	if p.terminal {
		if runes := []rune(text); len(runes) >= p.width {
			text = string(runes[:p.width-2]) + "…"
		}
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		p.open = true
		return
	}
	if at.Phase == p.phase && at.Elapsed-p.last < plainEvery && at.Done != at.Total {
		return
	}
	p.phase, p.last = at.Phase, at.Elapsed
	fmt.Fprintln(p.w, text)
}

func (p *progress) warn(text string) {
	p.end()
	fmt.Fprintf(p.w, "warning: %s\n", visible(text))
}

// end leaves the line as it stands and lets others write below it.
func (p *progress) end() {
	if p.open {
		fmt.Fprintln(p.w)
		p.open = false
	}
}
