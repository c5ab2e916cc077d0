package interop

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/analyze"
	"pairbench/records"
)

// TestShardsJoinedEqualTheWhole holds the analysis of two shards against that of
// one bundle with the same processes.
func TestShardsJoinedEqualTheWhole(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	study{seed: 3, cells: 7, rounds: 3, samples: 200}.write(t, whole)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	study{seed: 3, cells: 3, rounds: 3, samples: 200, shard: &records.RunShard{Index: 1, Count: 2}}.write(t, first)
	study{seed: 3, cells: 4, firstCell: 3, rounds: 3, samples: 200, shard: &records.RunShard{Index: 2, Count: 2}}.write(t, second)
	want := analysisTables(t, analysis(t, whole))
	got := analysisTables(t, analysis(t, second, first))
	for i := range want {
		if len(want[i].Rows) == 0 {
			t.Fatalf("checker is broken: no rows of %s", want[i].Name)
		}
		if diff := cmp.Diff(content(want[i]), content(got[i])); diff != "" {
			t.Errorf("%s:\n%s", want[i].Name, diff)
		}
	}

	repeated := filepath.Join(dir, "repeated")
	study{seed: 4, cells: 1, firstCell: 2, rounds: 3, samples: 200}.write(t, repeated)
	if _, err := analyze.Run(context.Background(), analyze.Options{Bundles: []string{first, repeated}}); err != nil {
		t.Errorf("a repeated collection on the same host: %v", err)
	}
	for name, c := range map[string]struct {
		other study
		names string // what the error says beside the bundle
		too   string
	}{
		"replanned":    {study{seed: 3, cells: 4, firstCell: 3, rounds: 3, samples: 200, plan: "plan: 1\nstudy: other\n"}, "its plan", ""},
		"another-host": {study{seed: 4, cells: 1, firstCell: 2, rounds: 3, samples: 200, memory: "2147483648"}, "another-host has memory.total_bytes=2147483648", "first has memory.total_bytes=1073741824"},
		"rebuilt":      {study{seed: 3, cells: 4, firstCell: 3, rounds: 3, samples: 200, program: "another program"}, "programs of side A", ""},
	} {
		path := filepath.Join(dir, name)
		c.other.write(t, path)
		_, err := analyze.Run(context.Background(), analyze.Options{Bundles: []string{first, path}})
		if !errors.Is(err, analyze.ErrNotJoinable) || !strings.Contains(err.Error(), c.names) || !strings.Contains(err.Error(), c.too) ||
			!strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "first") {
			t.Errorf("error is %v, want one that names a bundle and %s", err, c.names)
		}
	}
}

// content is a table without what names its bundle, its rows by their text.
func content(t table) map[string]int {
	rows := map[string]int{}
	for _, row := range t.Rows {
		var text strings.Builder
		for i, c := range t.Columns {
			if c.Name != "bundle" {
				text.WriteString(c.Name + "=")
				if s, ok := row[i].(string); ok {
					text.WriteString(s)
				} else if row[i] == nil {
					text.WriteString("null")
				} else if row[i] == true {
					text.WriteString("true")
				}
				text.WriteString(" ")
			}
		}
		rows[text.String()]++
	}
	return rows
}
