package interop

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pairbench/records/bundle"
)

// TestOtherToolsVerifyABundle lets bagit-python and sha256sum judge a bundle, as
// it is, out of a tar file, compacted, and damaged.
func TestOtherToolsVerifyABundle(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	study{seed: 2, cells: 3, rounds: 2, samples: 50}.write(t, whole)
	compacted := filepath.Join(dir, "compacted")
	_, err := bundle.Compact(whole, compacted)
	check(t, err)

	archive, unpacked := filepath.Join(dir, "whole.tar"), filepath.Join(dir, "unpacked")
	check(t, os.Mkdir(unpacked, 0o755))
	output(t, dir, "tar", "-cf", archive, "whole")
	output(t, unpacked, "tar", "-xf", archive)
	unpacked = filepath.Join(unpacked, "whole")

	sound := []string{whole, compacted, unpacked}
	for _, b := range sound {
		for _, manifest := range []string{"manifest-sha256.txt", "tagmanifest-sha256.txt"} {
			text, err := os.ReadFile(filepath.Join(b, manifest))
			check(t, err)
			out := output(t, b, "sha256sum", "--strict", "-c", manifest)
			if got, want := strings.Count(out, ": OK\n"), bytes.Count(text, []byte("\n")); got != want || want == 0 {
				t.Errorf("sha256sum -c %s: %d files are well, want %d\n%s", manifest, got, want, out)
			}
		}
		if r, err := bundle.Verify(b); err != nil || len(r.Findings) != 0 {
			t.Errorf("verify %s: %v, %v", b, err, r.Findings)
		}
	}

	// Each damaged bundle with what bagit-python finds: without reading the
	// files (fast) it sees only their number and sizes.
	damaged := []struct {
		name     string
		seenFast bool
		do       func(sample string) error
	}{
		{"flipped", false, func(sample string) error {
			b, err := os.ReadFile(sample)
			if err != nil {
				return err
			}
			b[len(b)/2] ^= 1
			return os.WriteFile(sample, b, 0o644)
		}},
		{"cut", true, func(sample string) error { return os.Truncate(sample, 10) }},
		{"missing", true, os.Remove},
		{"extra", true, func(sample string) error { return os.WriteFile(sample+".extra", []byte("x"), 0o644) }},
	}
	var args []string
	for _, b := range sound {
		args = append(args, "valid", "valid", b)
	}
	for _, d := range damaged {
		b := filepath.Join(dir, d.name)
		check(t, os.CopyFS(b, os.DirFS(whole)))
		sample, err := filepath.Glob(filepath.Join(b, "data", "samples", "*.parquet"))
		check(t, err)
		check(t, d.do(sample[0]))
		fast := "valid"
		if d.seenFast {
			fast = "invalid"
		}
		args = append(args, fast, "invalid", b)
		if r, err := bundle.Verify(b); err == nil && len(r.Findings) == 0 {
			t.Errorf("verify finds nothing wrong with the %s bundle", d.name)
		}
	}
	python(t, "bag.py", args...)
}
