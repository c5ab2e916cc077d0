package render_test

import (
	"testing"

	"pairbench/render"
	"pairbench/render/rendertest"
)

// BenchmarkDatabaseStudy renders the full study in all formats and languages in
// memory.
func BenchmarkDatabaseStudy(b *testing.B) {
	r := rendertest.Database()
	for b.Loop() {
		if _, err := render.Files(render.Options{Report: r}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDatabaseStudyOnDisk is the same, written and made durable.
func BenchmarkDatabaseStudyOnDisk(b *testing.B) {
	r := rendertest.Database()
	for b.Loop() {
		if _, err := render.Run(render.Options{Report: r, Out: b.TempDir() + "/report"}); err != nil {
			b.Fatal(err)
		}
	}
}
