package layout

import (
	"strings"
	"testing"

	"pairbench/analyze/report"
	"pairbench/analyze/report/reporttest"
	"pairbench/render/i18n"
)

// Both sides of an A/A study ran arm A: nothing that a reader sees calls one of
// them by the other arm's name, or says that the tables compare two ways.
func TestAnAAReportNamesTheOneProgramThatRan(t *testing.T) {
	for _, tag := range i18n.Languages() {
		w, _ := i18n.For(tag)
		r := reporttest.Compact()
		r.Study.AA = true
		r.Study.Title = report.Text{"en": "study"}
		b := &builder{r: r, w: w}
		ran, other := b.plannedArm(0), b.plannedArm(1)
		d := Build(r, w, Options{})
		var seen strings.Builder
		seen.WriteString(prose(d))
		var walk func([]Block)
		walk = func(blocks []Block) {
			for _, block := range blocks {
				switch block := block.(type) {
				case Details:
					walk(block.Blocks)
				case *Table:
					seen.WriteString("\n" + block.Title + "\n")
					for _, c := range block.Columns {
						seen.WriteString(c.Title + "\n")
					}
					for _, row := range block.Rows {
						for _, c := range row.Cells {
							seen.WriteString(c.Text + "\n")
						}
					}
				}
			}
		}
		for _, s := range d.Sections {
			walk(s.Blocks)
		}
		for _, f := range d.Figures() {
			seen.WriteString(strings.Join(f.Legend[:], "\n") + "\n")
		}
		for _, g := range d.Groups {
			for _, c := range g.Cells {
				for _, p := range c.Processes {
					seen.WriteString(p.Arm + "\n")
				}
			}
		}
		for line := range strings.SplitSeq(seen.String(), "\n") {
			if line == other || strings.Contains(line, "B "+other) || strings.Contains(line, "→ "+other) {
				t.Errorf("%s: %q names an arm that did not run", tag, line)
			}
		}
		for _, want := range []string{w.Sentences.ArmAA(ran, "A"), w.Sentences.ArmAA(ran, "B"), w.Sentences.AA, w.Scope.LimitChangeAA, w.Sentences.QuestionAA} {
			if want != w.Sentences.QuestionAA && !strings.Contains(seen.String(), want) || want == w.Sentences.QuestionAA && d.Lead != want {
				t.Errorf("%s: %q is not said", tag, want)
			}
		}
		if strings.Contains(seen.String(), w.Scope.LimitChange) {
			t.Errorf("%s: an A/A study says %q", tag, w.Scope.LimitChange)
		}
	}
}
