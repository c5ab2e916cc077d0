package render_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/render"
	"pairbench/render/rendertest"
)

// The release study as Markdown, whole, in both languages. UPDATE_GOLDEN=1
// writes the files anew.
func TestGoldenMarkdown(t *testing.T) {
	files, err := render.Files(render.Options{Report: rendertest.Release(), Formats: []string{render.FormatMarkdown}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if filepath.Ext(f.Path) != ".md" {
			continue
		}
		path := filepath.Join("testdata", "release-"+f.Path)
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
