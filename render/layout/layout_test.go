package layout

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pairbench/analyze/report"
	"pairbench/analyze/report/reporttest"
	"pairbench/render/i18n"
	"pairbench/render/rendertest"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"plain 中文 é":       "plain 中文 é",
		"a\nb\tc":          "a‹U+000A›b‹U+0009›c",
		"\x1b[31mred":      "‹U+001B›[31mred",
		"\u202egnp":        "‹U+202E›gnp",
		"\u200b\ufeff":     "‹U+200B›‹U+FEFF›",
		"\u2028":           "‹U+2028›",
		"\xff\xc3(":        "\uFFFD\uFFFD(",
		"\x7f\u0085":       "‹U+007F›‹U+0085›",
		"\ufffe\U0001ffff": "‹U+FFFE›‹U+1FFFF›",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := VisibleLines("a\r\nb\tc\rd"); got != "a\nb\tc‹U+000D›d" {
		t.Errorf("lines: %q", got)
	}
}

func FuzzVisible(f *testing.F) {
	f.Add(reporttest.Hostile)
	f.Add("\xff\u2066")
	f.Fuzz(func(t *testing.T, text string) {
		got := Visible(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }) {
			t.Fatalf("%q became %q", text, got)
		}
		if again := Visible(got); again != got {
			t.Fatalf("%q became %q and then %q", text, got, again)
		}
	})
}

// Both languages have the same sections, tables, columns and rows, and every
// row has a cell for each column.
func TestLanguagesHaveOneShape(t *testing.T) {
	for name, r := range map[string]*report.Report{
		"database": rendertest.Database(), "release": rendertest.Release(),
		"paired": reporttest.Database(), "compact": reporttest.Compact(), "hostile": reporttest.Release(),
	} {
		var shapes []string
		for _, tag := range i18n.Languages() {
			w, _ := i18n.For(tag)
			d := Build(r, w, Options{CSV: true})
			ids := map[string]bool{}
			var shape []string
			once := func(id string) {
				if ids[id] {
					t.Errorf("%s %s: the id %s stands twice", name, tag, id)
				}
				ids[id] = true
				shape = append(shape, id)
			}
			var walk func([]Block)
			walk = func(blocks []Block) {
				for _, b := range blocks {
					switch b := b.(type) {
					case Subheading:
						once(b.ID)
					case Details:
						walk(b.Blocks)
					case *Table:
						once(b.ID)
						for _, row := range b.Rows {
							shape = append(shape, strings.Repeat("c", len(row.Cells)))
							if len(row.Cells) != len(b.Columns) {
								t.Errorf("%s %s %s: %d cells in %d columns", name, tag, b.ID, len(row.Cells), len(b.Columns))
							}
							for _, c := range row.Cells {
								if x := c.Behind; x != nil && (x.Cell >= len(d.Groups[x.Group].Cells) || x.Metric >= len(d.Groups[x.Group].Metrics)) {
									t.Errorf("%s %s %s: a number leads nowhere: %+v", name, tag, b.ID, *x)
								}
							}
						}
					}
				}
			}
			for _, s := range d.Sections {
				once(s.ID)
				walk(s.Blocks)
			}
			for _, f := range d.Figures() {
				once("figure " + f.Name)
			}
			shapes = append(shapes, strings.Join(shape, "\n"))
		}
		if shapes[0] != shapes[1] {
			t.Errorf("%s: the languages differ in shape", name)
		}
	}
}

// The native profile: arms joined by an arrow, trimmed numbers, ASCII signs, and
// each panel with the median of its cells' changes.
func TestCompactLayout(t *testing.T) {
	w, _ := i18n.For(i18n.English)
	d := Build(reporttest.Compact(), w, Options{})
	tables := map[string]*Table{}
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			if table, ok := b.(*Table); ok {
				tables[table.ID] = table
			}
		}
	}
	cells := tables["t-cells-1"]
	if cells == nil || len(cells.Rows) != 4 {
		t.Fatalf("the table of all cells is missing: %v", tables)
	}
	if got, want := cells.Rows[0].Cells[3].Text, "250,000 [248,950.21–250,974.9] → 248,975.1 [248,000–250,949.81]"; got != want {
		t.Errorf("throughput is %q, expected %q", got, want)
	}
	medians := tables["t-medians-1"]
	if medians == nil || len(medians.Rows) != 2 || !strings.HasPrefix(medians.Rows[0].Cells[2].Text, "-") {
		t.Errorf("the panels' medians are %+v", medians)
	}
	for _, f := range d.Figures() {
		if strings.HasSuffix(f.Name, "throughput") && (len(f.Panels) != 2 || !strings.Contains(f.Panels[0].Title, "Median of changes "+medians.Rows[0].Cells[2].Text)) {
			t.Errorf("the panels are %q and %q", f.Panels[0].Title, f.Panels[1].Title)
		}
	}
}

// What disturbed most of a suite is one line, not one a cell; what disturbed few
// cells keeps naming their processes.
func TestDisturbancesOfManyCellsAreOneLine(t *testing.T) {
	for _, tag := range i18n.Languages() {
		w, _ := i18n.For(tag)
		for _, cells := range []int{3, 4} {
			r := rendertest.Database()
			s := &r.Suites[0]
			all := 0
			for i := range s.Cells {
				c := &s.Cells[i]
				c.Notes = nil
				for k := range c.Processes {
					c.Processes[k].Notes = nil
				}
				all += len(c.Processes)
				if i < cells {
					c.Notes = []report.Note{{Code: report.NoteDisturbed, Values: []string{"steal", c.Processes[0].ProcessID}}}
					c.Processes[0].Notes = c.Notes
				}
			}
			if len(s.Cells) < 4 {
				t.Fatalf("checker is broken: %d cells", len(s.Cells))
			}
			text := prose(Build(r, w, Options{}))
			what := w.Names.Disturbance("steal")
			folded := w.Notes.DisturbedMany(what, "4", strconv.Itoa(all), "4", strconv.Itoa(len(s.Cells)))
			single := w.Notes.Disturbed(what, "callback/r1")
			if got := strings.Contains(text, folded); got != (cells == 4) {
				t.Errorf("%s: %d cells: folded is %v", tag, cells, got)
			}
			if got := strings.Contains(text, what); !got {
				t.Errorf("%s: %d cells: nothing is said", tag, cells)
			}
			if cells == 4 && strings.Contains(text, single) {
				t.Errorf("%s: a cell repeats what the line says", tag)
			}
		}
	}
}
