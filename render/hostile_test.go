package render_test

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pairbench/analyze/report"
	"pairbench/analyze/report/reporttest"
	"pairbench/records"
	"pairbench/render"
	guard "pairbench/render/csv"
)

// hostile are names and outputs that try to leave the place they are put in.
func hostile() []string {
	return []string{
		reporttest.Hostile,
		"</script><script>alert(1)</script>", "</style><svg onload=alert(1)>", `"><img src=x onerror=alert(1)>`, "' onmouseover='alert(1)",
		"a|b\n| c | d |\n\n# heading", "[click](javascript:alert(1))", "![x](https://example.org/x.png)", "https://example.org/", "@somebody", "`code` *bold* _it_ ~~s~~ $x$",
		"=cmd|'/c calc'!A1", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", " =1+1", "'quoted", "＝1",
		"\u202egnp.exe", "\u2066a\u2069", "\u200b\ufeffzero", "\x1b[31mred\x1b[0m", "\x00\x01\x7f\u0085", "\xff\xfe\xc3(", "\u2028\u2029", "中文｜名", "1. list", "- item", "---", "]]>", "&lt;&amp;",
		strings.Repeat("long ", 400),
	}
}

// poison puts a hostile text wherever a plan or a process could.
func poison(r *report.Report, text string) {
	r.Study.ID, r.Study.Title = text, report.Text{"en": text, "zh-CN": text}
	for i := range r.Study.Arms {
		r.Study.Arms[i].Name, r.Study.Arms[i].Label = text, report.Text{"en": text}
	}
	r.Bundles[0].Name, r.Bundles[0].LockGaps = text, []string{text}
	r.Scope.Versions = map[string][]string{text: {text}}
	r.Scope.Hosts[0].Facts = append(r.Scope.Hosts[0].Facts, records.HostFact{Name: text, Value: &text, Unit: &text, Source: text})
	r.Scope.Inputs = []records.Input{{Kind: text, Name: text, SHA256: &text, Side: &text, Gap: &text}}
	r.Notes = append(r.Notes, report.Note{Code: text, Values: []string{text}}, report.Note{Code: report.NoteDisturbed, Values: []string{text, text}})
	r.Failures = append(r.Failures, report.Failure{Suite: text, CellID: text, ProcessID: text, Outcome: records.Outcome(text), Detail: text})
	for si := range r.Suites {
		s := &r.Suites[si]
		s.ID, s.Title, s.Workload = text, report.Text{"en": text}, text
		s.PlanNotes = []report.Text{{"en": text}}
		s.Factors[0].Label, s.Factors[0].ValueLabels = report.Text{"en": text}, map[string]map[string]string{s.Cells[0].Factors[0].Value: {"en": text}}
		for ci := range s.Cells {
			c := &s.Cells[ci]
			c.ID = text
			for pi := range c.Processes {
				p := &c.Processes[pi]
				p.ProcessID, p.Detail, p.SampleFile, p.SampleSHA256 = text, text, text, text
				p.Stdout, p.StdoutBytes, p.Stderr, p.StderrBytes = text, int64(len(text)), text, int64(len(text))
			}
		}
	}
}

var (
	tag        = regexp.MustCompile(`<[a-zA-Z/!][^>]*>`)
	plainValue = regexp.MustCompile(`^[+−-]?[0-9,]+(\.[0-9]+)?%?$`)
)

func TestHostileTextIsHarmlessInEveryFormat(t *testing.T) {
	fixtures := []func() *report.Report{reporttest.Database, reporttest.Compact, reporttest.Release}
	for i, text := range hostile() {
		// Every text in one layout, the first in all of them.
		for k, fixture := range fixtures {
			if i > 0 && i%len(fixtures) != k {
				continue
			}
			r := fixture()
			layout := r.Study.Layout
			poison(r, text)
			files, err := render.Files(render.Options{Report: r})
			if err != nil {
				t.Fatalf("%s %q: %v", layout, text, err)
			}
			for _, f := range files {
				what := layout + " " + f.Path
				content := string(f.Content)
				if !utf8.ValidString(content) {
					t.Errorf("%s of %q is not UTF-8", what, text)
				}
				switch {
				case strings.HasSuffix(f.Path, ".csv"):
					checkCSV(t, what, text, content)
					continue
				case strings.HasSuffix(f.Path, ".html"):
					checkHTML(t, what, text, content)
				case strings.HasSuffix(f.Path, ".svg"):
					checkSVG(t, what, text, content)
				case strings.HasSuffix(f.Path, ".json"):
					if !json.Valid(f.Content) {
						t.Errorf("%s of %q is not JSON", what, text)
					}
				case strings.HasSuffix(f.Path, ".md"):
					checkMarkdown(t, what, text, content)
				default:
					t.Errorf("no check for %s", f.Path)
				}
				for _, c := range content {
					if (c < ' ' || c > '~') && c != '\n' && c != '\t' && unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
						t.Errorf("%s of %q holds %U", what, text, c)
						break
					}
				}
			}
			for _, lang := range render.Languages() {
				var out strings.Builder
				if err := render.Terminal(&out, r, lang, 80); err != nil {
					t.Fatal(err)
				}
				if strings.ContainsFunc(out.String(), func(c rune) bool { return c != '\n' && unicode.In(c, unicode.Cc, unicode.Cf) }) {
					t.Errorf("the terminal gets %q from %q", out.String(), text)
				}
			}
		}
	}
}

func checkHTML(t *testing.T, what, text, page string) {
	t.Helper()
	_, body, _ := strings.Cut(page, "</style>")
	body, _, _ = strings.Cut(body, "<script>")
	allowed := []string{"head", "body", "html", "a", "div", "nav", "p", "ol", "ul", "li", "main", "header", "h1", "h2", "h3", "h4", "dl", "dt", "dd", "section", "table", "caption",
		"thead", "tbody", "tr", "th", "td", "i", "span", "strong", "small", "pre", "details", "summary", "figure", "figcaption", "svg", "title", "desc", "path", "text", "g", "dialog", "form", "button", "footer", "wbr"}
	for _, found := range tag.FindAllString(body, -1) {
		name := strings.ToLower(strings.Trim(strings.FieldsFunc(found, func(r rune) bool { return r == ' ' || r == '>' })[0], "</"))
		if !slices.Contains(allowed, name) {
			t.Errorf("%s of %q: a tag %s", what, text, found)
		}
		outside := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(found, "")
		if strings.Contains(strings.ToLower(outside), " on") || strings.Contains(strings.ToLower(found), `href="javascript`) || strings.Contains(found, `href="http`) {
			t.Errorf("%s of %q: a tag %s", what, text, found)
		}
	}
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%s of %q: %d scripts", what, text, n)
	}
	if n := strings.Count(page, "<style"); n != 1 {
		t.Errorf("%s of %q: %d styles", what, text, n)
	}
}

func checkSVG(t *testing.T, what, text, drawing string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(drawing))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s of %q: %v", what, text, err)
			return
		}
		if start, ok := token.(xml.StartElement); ok {
			if !slices.Contains([]string{"svg", "title", "desc", "style", "rect", "text", "path", "g"}, start.Name.Local) {
				t.Errorf("%s of %q: an element %s", what, text, start.Name.Local)
			}
			for _, a := range start.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") {
					t.Errorf("%s of %q: an attribute %s", what, text, a.Name.Local)
				}
			}
		}
	}
}

func checkMarkdown(t *testing.T, what, text, content string) {
	t.Helper()
	columns, fenced := 0, false
	for _, line := range strings.Split(content, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if strings.ContainsAny(line, "<>") && !strings.HasPrefix(line, "> **") || strings.Contains(line, "https://") || strings.Contains(strings.ReplaceAll(line, `\]`, ""), "](javascript") || strings.Contains(line, "@") {
			t.Errorf("%s of %q: active line %.200q", what, text, line)
		}
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns != 0 && n != columns {
			t.Errorf("%s of %q: a row with %d bars in a table with %d: %.200q", what, text, n, columns, line)
		}
		columns = n
	}
}

// checkCSV wants every text back as it was, and nothing that a spreadsheet runs.
func checkCSV(t *testing.T, what, text, content string) {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(content)).ReadAll()
	if err != nil {
		t.Errorf("%s of %q: %v", what, text, err)
		return
	}
	// encoding/csv reads \r\n inside a field as \n, as it does for any reader.
	want, found := strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n"), false
	for _, row := range records {
		for _, field := range row {
			found = found || guard.Unguard(field) == want && (field == want || strings.HasPrefix(field, "'"))
			start := strings.TrimLeft(field, " ")
			if start != "" && strings.ContainsAny(start[:1], "=+-@\t\r") && !plainValue.MatchString(field) {
				t.Errorf("%s of %q: a spreadsheet may run %q", what, text, field)
			}
		}
	}
	if !found {
		t.Errorf("%s of %q: the text is not there as it was", what, text)
	}
}
