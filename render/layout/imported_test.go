package layout

import (
	"strings"
	"testing"

	"pairbench/analyze/report"
	"pairbench/analyze/report/reporttest"
	"pairbench/render/i18n"
	"pairbench/render/numfmt"
)

// Nothing is claimed of how imported processes were run or checked, and what the
// files hold is said: raw samples or stated percentiles.
func TestImportedEvidenceIsNotCalledCollected(t *testing.T) {
	for _, tag := range i18n.Languages() {
		w, _ := i18n.For(tag)
		own := []string{w.Sentences.AllChecked, w.Sentences.OutsideIntervals, w.Sentences.LockCovers, w.Method.Intervals, w.Scope.LimitSaturation,
			w.Sentences.Alternation(w.Names.Order("alternate"), w.Number(3))}
		r := reporttest.Database()
		r.Suites[0].PlanNotes = []report.Text{{"en": "One processor.", "zh-CN": "One processor."}}
		own = append(own, "One processor.")
		collected := prose(Build(r, w, Options{}))
		for _, text := range own {
			if !strings.Contains(collected, text) {
				t.Errorf("%s: a collected study does not say %q", tag, text)
			}
		}
		format := "hyperfine"
		r.Study.Origin, r.Study.ImportFormat, r.Study.Order.Kind = "imported", &format, "imported"
		for _, samples := range []int64{0, 14} {
			r.Totals.Samples = samples
			got := prose(Build(r, w, Options{}))
			for _, text := range own {
				if strings.Contains(got, text) {
					t.Errorf("%s: an imported study says %q", tag, text)
				}
			}
			with, without := w.Sentences.ImportedSamples(format, "14"), w.Sentences.ImportedStated(format)
			if strings.Contains(got, with) != (samples > 0) || strings.Contains(got, without) != (samples == 0) {
				t.Errorf("%s: %d raw samples are told wrong", tag, samples)
			}
			if strings.Contains(got, w.Method.Percentile) != (samples > 0) {
				t.Errorf("%s: with %d raw samples, the rule of the percentiles is told wrong", tag, samples)
			}
		}
	}
}

// Absent is not zero: of operations that a file does not state nothing is said,
// and of percentiles nothing where there are none.
func TestWhatAnImportDoesNotStateIsNotZero(t *testing.T) {
	for _, tag := range i18n.Languages() {
		w, _ := i18n.For(tag)
		r := reporttest.Database()
		format := "redis-benchmark"
		r.Study.Origin, r.Study.ImportFormat = "imported", &format
		r.Totals.Samples, r.Totals.MeasuredOperations, r.Totals.WarmupOperations = 0, 0, 0
		for i := range r.Suites {
			r.Suites[i].Metrics = r.Suites[i].Metrics[:1]
		}
		b := &builder{r: r, w: w}
		for _, f := range b.headFacts() {
			if f.Name == w.Columns.Operations {
				t.Errorf("%s: %s operations are told", tag, f.Value)
			}
		}
		if text, want := b.totals(&r.Totals), w.Sentences.Totals(numfmt.Count(int64(r.Totals.Processes)), "", "", "0"); !strings.HasPrefix(text, want) {
			t.Errorf("%s: the totals are %q, want %q first", tag, text, want)
		}
		if b.hasPercentiles() {
			t.Errorf("%s: a suite of throughput has percentiles", tag)
		}
	}
}

// A suite of one cell has one change, not a range from it to itself.
func TestOneChangeIsNoRange(t *testing.T) {
	for _, tag := range i18n.Languages() {
		w, _ := i18n.For(tag)
		r := reporttest.Database()
		s := &r.Suites[0]
		for m := range s.Summaries {
			s.Summaries[m].HighestPct, s.Summaries[m].HighestCell = s.Summaries[m].LowestPct, s.Summaries[m].LowestCell
		}
		d := Build(r, w, Options{})
		b := &builder{r: r, w: w}
		one := b.change(s, s.Summaries[0].LowestPct)
		if text := prose(d); strings.Contains(text, w.ChangeRange(one, one)) || !strings.Contains(text, one) {
			t.Errorf("%s: one change is written as a range", tag)
		}
	}
}

// prose is all running text of a document, a line a block or item.
func prose(d *Document) string {
	var b strings.Builder
	var walk func([]Block)
	walk = func(blocks []Block) {
		for _, block := range blocks {
			switch block := block.(type) {
			case Paragraph:
				b.WriteString(block.Text + "\n")
			case Callout:
				b.WriteString(block.Text + "\n")
			case List:
				b.WriteString(strings.Join(block.Items, "\n") + "\n")
			case Details:
				walk(block.Blocks)
			}
		}
	}
	for _, s := range d.Sections {
		walk(s.Blocks)
	}
	return b.String()
}
