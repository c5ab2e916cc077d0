package importer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"pairbench/collect/importer/result"
	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bundle"
)

// failingFS fails its n-th call, and no other.
type failingFS struct {
	atomicfile.OS
	left *int
}

var errFull = errors.New("no space left on device")

func (f failingFS) spend() error {
	if *f.left--; *f.left == 0 {
		return errFull
	}
	return nil
}

func (f failingFS) CreateTemp(dir, prefix string) (atomicfile.File, error) {
	if err := f.spend(); err != nil {
		return nil, err
	}
	return f.OS.CreateTemp(dir, prefix)
}

func (f failingFS) Rename(oldPath, newPath string) error {
	if err := f.spend(); err != nil {
		return err
	}
	return f.OS.Rename(oldPath, newPath)
}

func (f failingFS) Mkdir(path string, perm fs.FileMode) error {
	if err := f.spend(); err != nil {
		return err
	}
	return f.OS.Mkdir(path, perm)
}

func (f failingFS) SyncDir(string) error { return nil }

func smallImport(t *testing.T) (Import, []result.Source) {
	t.Helper()
	src := original(t, "csv.csv")
	table, src, err := format(t, "csv").Read(src, "")
	if err != nil {
		t.Fatal(err)
	}
	in, err := Build(src.Name, table, Options{Format: "csv", Study: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return in, []result.Source{src}
}

// TestFailedImportLeavesNothing fails each call of an import alone, and ends its
// context: nothing half-made is left.
func TestFailedImportLeavesNothing(t *testing.T) {
	in, sources := smallImport(t)
	for n := 1; ; n++ {
		root, left := t.TempDir(), n
		_, err := Write(t.Context(), failingFS{left: &left}, filepath.Join(root, "b"), in, sources)
		if err == nil {
			if n < 10 {
				t.Errorf("only %d calls could fail", n-1)
			}
			break
		}
		if entries, rerr := os.ReadDir(root); !errors.Is(err, errFull) || rerr != nil || len(entries) > 0 {
			t.Errorf("call %d: %v: left %v (%v)", n, err, entries, rerr)
		}
	}
	root := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Write(ctx, atomicfile.OS{}, filepath.Join(root, "b"), in, sources)
	if entries, rerr := os.ReadDir(root); !errors.Is(err, context.Canceled) || rerr != nil || len(entries) > 0 {
		t.Errorf("interrupted: %v: left %v (%v)", err, entries, rerr)
	}
}

// TestKilledImportIsTakenOver: what a killed import left is no obstacle, what a
// collection left is.
func TestKilledImportIsTakenOver(t *testing.T) {
	in, sources := smallImport(t)
	for _, made := range []struct {
		origin string
		want   error
	}{{"imported", nil}, {"collected", bundle.ErrUnfinished}} {
		dir := filepath.Join(t.TempDir(), "b")
		run := in.Run
		run.Origin = made.origin
		w, err := bundle.Create(atomicfile.OS{}, dir, nil, run, in.Cells)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(records.Process{ProcessNo: 7, Suite: "s", Outcome: records.OutcomeOK}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(t.Context(), atomicfile.OS{}, dir, in, sources); !errors.Is(err, bundle.ErrBusy) {
			t.Errorf("%s, beside its writer: %v, want ErrBusy", made.origin, err)
		}
		w.Close()
		if _, err := Write(t.Context(), atomicfile.OS{}, dir, in, sources); !errors.Is(err, made.want) {
			t.Errorf("%s: %v, want %v", made.origin, err, made.want)
		}
		if _, err := os.Stat(dir + bundle.PartialSuffix); (err == nil) != (made.want != nil) {
			t.Errorf("%s: the unfinished bundle is there: %v", made.origin, err == nil)
		}
	}
}
