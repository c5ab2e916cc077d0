package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteReplacesAsAWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, content := range []string{"first", "", strings.Repeat("long", 100_000)} {
		if err := WriteBytes(OS{}, path, 0o640, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Fatalf("%d bytes came back of %d (%v)", len(got), len(content), err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v (%v)", info.Mode(), err)
	}
}

func TestFailedWriteLeavesTheOldContentAndNoRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := WriteBytes(OS{}, path, 0o644, []byte("old")); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("no more")
	err := Write(OS{}, path, 0o644, func(w io.Writer) error {
		if _, err := io.WriteString(w, "new"); err != nil {
			return err
		}
		return cause
	})
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name path and cause", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("content is %q (%v)", got, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v (%v)", entries, err)
	}
	if err := WriteBytes(OS{}, filepath.Join(path, "below"), 0o644, nil); err == nil {
		t.Error("a file was written below a file")
	}
}

func TestIsTemp(t *testing.T) {
	for path, want := range map[string]bool{"/a/.tmp-123": true, ".tmp-": true, "/.tmp-1/b": false, "tmp-1": false} {
		if IsTemp(path) != want {
			t.Errorf("IsTemp(%q) is %v", path, !want)
		}
	}
}

// TestDirIsWholeOrNotThere fails each call that makes a directory, and what fills
// it; what a killed one left is taken over.
func TestDirIsWholeOrNotThere(t *testing.T) {
	fill := func(dir string) error { return WriteBytes(OS{}, filepath.Join(dir, "f"), 0o644, []byte("x")) }
	parent := t.TempDir()
	if err := os.MkdirAll(filepath.Join(parent, TempPrefix+"new", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(parent, "new")
	if err := Dir(OS{}, out+"/", fill); err != nil {
		t.Fatal(err)
	}
	names := func() (list []string) {
		entries, err := os.ReadDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			list = append(list, e.Name())
		}
		return list
	}
	if got := names(); len(got) != 1 || got[0] != "new" {
		t.Errorf("made %v, want new", got)
	}
	if content, err := os.ReadFile(filepath.Join(out, "f")); err != nil || string(content) != "x" {
		t.Errorf("the file holds %q (%v)", content, err)
	}
	refused := errors.New("refused")
	err := Dir(OS{}, filepath.Join(parent, "other"), func(dir string) error {
		return errors.Join(fill(dir), refused)
	})
	if got := names(); !errors.Is(err, refused) || len(got) != 1 {
		t.Errorf("%v, and %v is there", err, got)
	}
	if err := Dir(OS{}, out, fill); err == nil {
		t.Error("a directory that was there was written over")
	}
	if got := names(); len(got) != 1 {
		t.Errorf("left %v", got)
	}
}
