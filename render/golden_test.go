package render_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/analyze/report"
	"pairbench/render"
	"pairbench/render/rendertest"
)

// The release study, and a report with inference and a floor, as Markdown, whole,
// in both languages. UPDATE_GOLDEN=1 writes the files anew.
func TestGoldenMarkdown(t *testing.T) {
	golden(t, "release-", rendertest.Release())
	f, err := os.Open(filepath.Join("..", "analyze", "testdata", "inference_floor.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := report.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "inference_floor-", r)
}

// A change beyond those of equal arms is marked in its own row, in every layout
// and in the CSV twin.
func TestEveryChangeIsPlacedAgainstTheFloor(t *testing.T) {
	for _, layout := range []string{"paired", "compact", "release"} {
		f, err := os.Open(filepath.Join("..", "analyze", "testdata", "inference_floor.json"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := report.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		r.Study.Layout = layout
		inside, outside, shown := 0, 0, map[string]bool{"throughput": true, "latency_p50": true, "latency_p99": true, "peak_rss": true, "cpu": layout != "release"}
		for _, s := range r.Suites {
			for _, c := range s.Cells {
				for _, m := range c.Comparisons {
					switch {
					case m.Floor == nil || !shown[m.Metric]:
					case m.Floor.Inside:
						inside++
					default:
						outside++
					}
				}
			}
		}
		files, err := render.Files(render.Options{Report: r, Formats: []string{render.FormatMarkdown, render.FormatCSV}, Langs: []string{"en"}})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for _, f := range files {
			text := string(f.Content)
			switch filepath.Ext(f.Path) {
			case ".md":
				if got := strings.Count(text, "| inside ("); got != inside || inside == 0 {
					t.Errorf("%s: %d changes are inside the floor, the report marks %d", layout, inside, got)
				}
				if got := strings.Count(text, "| outside ("); got != outside || outside == 0 {
					t.Errorf("%s: %d changes are outside the floor, the report marks %d", layout, outside, got)
				}
			case ".csv":
				rows += strings.Count(text, ",true\r\n") + strings.Count(text, ",false\r\n")
			}
		}
		if all := 20; rows != all {
			t.Errorf("%s: CSV places %d changes, expected %d", layout, rows, all)
		}
	}
}

func golden(t *testing.T, prefix string, r *report.Report) {
	t.Helper()
	files, err := render.Files(render.Options{Report: r, Formats: []string{render.FormatMarkdown}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if filepath.Ext(f.Path) != ".md" {
			continue
		}
		path := filepath.Join("testdata", prefix+f.Path)
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(path, f.Content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(f.Content)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// The summary that README.md shows is that of the published study, at 80
// columns, as it is printed today.
func TestReadmeShowsTheSummaryAsItIsPrinted(t *testing.T) {
	var b strings.Builder
	if err := render.Terminal(&b, rendertest.Database(), "en", 80); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "```\n"+b.String()+"```\n") {
		t.Errorf("README.md does not show\n%s", b.String())
	}
}
