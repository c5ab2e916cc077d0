package html_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pairbench/analyze/report"
	"pairbench/render"
	"pairbench/render/rendertest"
)

// wideStudy is one suite of so many cells with three processes an arm: those of
// the published study again and again, under payloads of their own.
func wideStudy(cells int) *report.Report {
	r := rendertest.Database()
	s := &r.Suites[0]
	r.Suites = r.Suites[:1]
	some := s.Cells
	s.Cells, s.Panels = nil, nil
	panels := map[string]int{}
	no := int32(0)
	for i := range cells {
		c := some[i%len(some)]
		payload := strconv.Itoa(64 + i/len(some))
		c.ID = fmt.Sprintf("%sB-%s", payload, c.ID)
		c.Factors = slices.Clone(c.Factors)
		c.Factors[0].Value = payload
		c.Processes = slices.Clone(c.Processes)
		for k := range c.Processes {
			no++
			c.Processes[k].ProcessNo, c.Processes[k].Slot = no, no
			c.Processes[k].ProcessID = fmt.Sprintf("%s/%s/%s/r%d", s.ID, c.ID, c.Processes[k].Side, c.Processes[k].Round)
		}
		s.Cells = append(s.Cells, c)
		key := payload + " " + c.Factors[1].Value
		at, ok := panels[key]
		if !ok {
			at = len(s.Panels)
			panels[key] = at
			s.Panels = append(s.Panels, report.PanelResult{Factors: slices.Clone(c.Factors[:2]), MedianChangePct: make([]*report.Number, len(s.Metrics))})
		}
		s.Panels[at].Cells = append(s.Panels[at].Cells, i)
	}
	for m := range s.Summaries {
		s.Summaries[m].LowestCell, s.Summaries[m].HighestCell = s.Cells[0].ID, s.Cells[1].ID
	}
	r.Totals.Processes = int(no)
	return r
}

// Five hundred cells and three thousand processes are one page from disk that
// asks for nothing else, and sorting, filtering and drilling down work over all
// of them.
func TestFiveHundredCellsInABrowser(t *testing.T) {
	const cells = 500
	r := wideStudy(cells)
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "report")
	if _, err := render.Run(render.Options{Report: r, Out: out, Langs: []string{"en"}, Formats: []string{render.FormatHTML}}); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(out, "report.en.html")
	info, err := os.Stat(page)
	if err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	b.size(1400, 1000, false)
	b.open(page)
	b.eval(helpers, nil)
	var found struct {
		Rows, Processes, Elements int
		First, Up, Down           string
		Left                      int
		Count                     string
		Open                      bool
		Behind                    int
		LoadMs, SortMs, FilterMs  float64
	}
	b.eval(`(() => {
		const timed = f => { const from = performance.now(); f(); document.body.offsetHeight; return performance.now() - from; };
		const r = {Rows: column('t-s1-throughput', 0).length, Processes: document.querySelectorAll('tr.sa,tr.sb').length, Elements: document.querySelectorAll('*').length};
		r.LoadMs = performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd;
		const button = '#t-s1-throughput thead th:nth-child(4) button';
		r.First = column('t-s1-throughput', 3)[0];
		r.SortMs = timed(() => press(button));
		r.Up = column('t-s1-throughput', 3)[0];
		press(button);
		r.Down = column('t-s1-throughput', 3)[0];
		const box = document.querySelector('#t-s1-throughput').closest('.tbl').querySelector('input');
		r.FilterMs = timed(() => { box.value = 'continuous 1/64'; box.dispatchEvent(new Event('input')); });
		r.Left = column('t-s1-throughput', 0).length;
		r.Count = document.querySelector('#t-s1-throughput').closest('.tbl').querySelector('output').textContent;
		box.value = ''; box.dispatchEvent(new Event('input'));
		press('#t-s1-throughput tbody tr:last-child td:nth-child(4) a');
		r.Open = document.querySelector('dialog').open;
		r.Behind = document.querySelectorAll('dialog tr.sa, dialog tr.sb').length;
		return r;
	})()`, &found)
	t.Logf("%d bytes, %d elements; loaded in %.0f ms, sorted in %.0f ms, filtered in %.0f ms", info.Size(), found.Elements, found.LoadMs, found.SortMs, found.FilterMs)
	if found.Rows != cells || found.Processes != 6*cells {
		t.Errorf("the page has %d rows and %d processes", found.Rows, found.Processes)
	}
	if found.Up == found.Down || found.Up != "994.8 [985.1–997.7]" {
		t.Errorf("sorted from %q to %q", found.Up, found.Down)
	}
	want := 0
	for _, c := range r.Suites[0].Cells {
		if c.Factors[1].Value == "continuous" && c.Factors[2].Value == "1" && c.Factors[3].Value == "64" {
			want++
		}
	}
	if found.Left != want || want == 0 || found.Count != fmt.Sprintf("%d of %d rows", want, cells) {
		t.Errorf("the filter leaves %d rows of %d and says %q, expected %d", found.Left, cells, found.Count, want)
	}
	if !found.Open || found.Behind != 6 {
		t.Errorf("behind the last row are %d processes", found.Behind)
	}
	var overflow int
	b.size(400, 1000, true)
	b.eval("document.querySelector('dialog').close(), document.documentElement.scrollWidth - document.documentElement.clientWidth", &overflow)
	if overflow > 0 {
		t.Errorf("at 400 pixels the page is %d pixels too wide", overflow)
	}
	for _, url := range b.requests {
		if url != "file://"+page && url != "about:blank" {
			t.Errorf("the page asked for %s", url)
		}
	}
	if len(b.requests) == 0 || len(b.errors) > 0 {
		t.Errorf("%d requests, the browser reports %q", len(b.requests), b.errors)
	}
}
