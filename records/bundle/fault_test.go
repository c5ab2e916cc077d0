package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pairbench/records"
	"pairbench/records/atomicfile"
)

// The kinds of calls that a disk can fail.
var faultKinds = []string{"createtemp", "write", "sync", "close", "rename", "remove", "mkdir", "chmod", "syncdir"}

var errInjected = errors.New("injected fault")

// quickFS is the real file system without its syncs: no test pulls the plug, and
// hundreds of trials would spend their time waiting for the disk.
type quickFS struct{ atomicfile.OS }

func (quickFS) SyncDir(string) error { return nil }

func (f quickFS) CreateTemp(dir, prefix string) (atomicfile.File, error) {
	file, err := f.OS.CreateTemp(dir, prefix)
	if err != nil {
		return nil, err
	}
	return quickFile{file}, nil
}

type quickFile struct{ atomicfile.File }

func (quickFile) Sync() error { return nil }

// faultFS fails the n-th call of one kind, and from then on every call when
// dead is set: the program was killed there, or the disk is gone.
type faultFS struct {
	atomicfile.FS
	kind  string
	n     int
	dead  bool
	calls int
	hit   bool
}

func (f *faultFS) fail(kind, path string) error {
	if f.hit && f.dead {
		return fmt.Errorf("%s %s: %w", kind, path, errInjected)
	}
	if kind != f.kind {
		return nil
	}
	if f.calls++; f.calls != f.n {
		return nil
	}
	f.hit = true
	return fmt.Errorf("%s %s: %w", kind, path, errInjected)
}

func (f *faultFS) CreateTemp(dir, prefix string) (atomicfile.File, error) {
	if err := f.fail("createtemp", dir); err != nil {
		return nil, err
	}
	file, err := f.FS.CreateTemp(dir, prefix)
	if err != nil {
		return nil, err
	}
	return &faultFile{file, f}, nil
}

func (f *faultFS) Rename(oldPath, newPath string) error {
	if err := f.fail("rename", newPath); err != nil {
		return err
	}
	return f.FS.Rename(oldPath, newPath)
}

func (f *faultFS) Remove(path string) error {
	if err := f.fail("remove", path); err != nil {
		return err
	}
	return f.FS.Remove(path)
}

func (f *faultFS) Mkdir(path string, perm fs.FileMode) error {
	if err := f.fail("mkdir", path); err != nil {
		return err
	}
	return f.FS.Mkdir(path, perm)
}

func (f *faultFS) Chmod(path string, perm fs.FileMode) error {
	if err := f.fail("chmod", path); err != nil {
		return err
	}
	return f.FS.Chmod(path, perm)
}

func (f *faultFS) SyncDir(dir string) error {
	if err := f.fail("syncdir", dir); err != nil {
		return err
	}
	return f.FS.SyncDir(dir)
}

type faultFile struct {
	atomicfile.File
	fs *faultFS
}

// Write leaves half of the bytes behind when it fails, as a full disk does.
func (f *faultFile) Write(p []byte) (int, error) {
	if err := f.fs.fail("write", f.Name()); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *faultFile) Sync() error {
	if err := f.fs.fail("sync", f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) Close() error {
	err := f.File.Close()
	if fault := f.fs.fail("close", f.Name()); fault != nil {
		return fault
	}
	return err
}

// collector drives a small study to its end however often it is interrupted,
// and remembers which processes the bundle has promised to keep.
type collector struct {
	dir       string
	processes int32
	promised  map[int32][]byte // samples files as they were when Append returned
}

// session runs until the first error, as one run of collect would.
func (c *collector) session(fsys atomicfile.FS) error {
	w, err := Resume(fsys, c.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrNotBegun):
		w, err = Create(fsys, c.dir, []byte(studyPlan), studyRun(int(c.processes)/2), studyCells())
	case errors.Is(err, fs.ErrExist):
		return nil // sealed before, only the caller did not hear of it
	}
	if err != nil {
		return err
	}
	defer w.Close()
	if !w.Complete() {
		if err := c.fill(w); err != nil {
			return err
		}
	}
	_, err = w.Seal(w.Run())
	return err
}

func (c *collector) fill(w *Writer) error {
	have := make(map[int32]bool)
	for _, p := range w.Processes() {
		have[p.ProcessNo] = true
	}
	if w.Host() == nil {
		if err := w.SetHost(studyHost()); err != nil {
			return err
		}
		if err := w.SetInputs(studyInputs()); err != nil {
			return err
		}
	}
	for no := int32(1); no <= c.processes; no += 2 {
		if have[no] && have[no+1] {
			continue
		}
		for _, half := range []int32{no, no + 1} { // a half pair runs again as a pair
			if have[half] {
				delete(c.promised, half)
				if err := w.Remove(half); err != nil {
					return err
				}
			}
		}
		for _, half := range []int32{no, no + 1} {
			if err := w.Append(studyProcess(half), studySamples(half, 20)); err != nil {
				return err
			}
			content, err := os.ReadFile(filepath.Join(c.dir+PartialSuffix, sampleFile(half)))
			if err != nil {
				return err
			}
			c.promised[half] = content
		}
	}
	return nil
}

// check fails unless the sealed bundle is whole and keeps every promise.
func (c *collector) check(t *testing.T, what string) {
	t.Helper()
	report, err := Verify(c.dir)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if len(report.Findings) > 0 {
		t.Fatalf("%s: %s", what, report.Findings[0])
	}
	if report.Processes != int(c.processes) || report.Samples != int64(c.processes)*20 {
		t.Fatalf("%s: %d processes and %d samples", what, report.Processes, report.Samples)
	}
	for no, want := range c.promised {
		got, err := os.ReadFile(filepath.Join(c.dir, sampleFile(no)))
		if err != nil || string(got) != string(want) {
			t.Fatalf("%s: samples of finished process %d changed (%v)", what, no, err)
		}
	}
	leftovers, err := filepath.Glob(c.dir + "*")
	if err != nil || len(leftovers) != 1 {
		t.Fatalf("%s: beside the bundle there is %v (%v)", what, leftovers, err)
	}
}

// TestEveryFailedCallIsSurvived fails calls of every kind, one alone or one and
// everything after it, and then lets the collection resume on a disk that works
// again.
func TestEveryFailedCallIsSurvived(t *testing.T) {
	var trials atomic.Int64
	t.Run("kinds", func(t *testing.T) {
		for _, kind := range faultKinds {
			for _, dead := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s dead=%v", kind, dead), func(t *testing.T) {
					t.Parallel()
					for n := 1; failCall(t, kind, n, dead); n += faultStride() {
						trials.Add(1)
					}
				})
			}
		}
	})
	t.Logf("%d faults, all survived", trials.Load())
	if trials.Load() < 60 {
		t.Errorf("only %d faults were injected", trials.Load())
	}
}

// faultStride is how far apart the calls are that are failed: a prime, so that
// every place is hit in one kind or another. PAIRBENCH_ALL_FAULTS=1 fails each.
func faultStride() int {
	if os.Getenv("PAIRBENCH_ALL_FAULTS") != "" {
		return 1
	}
	return 3
}

// failCall reports whether there was an n-th call of that kind to fail.
func failCall(t *testing.T, kind string, n int, dead bool) bool {
	t.Helper()
	c := &collector{dir: filepath.Join(t.TempDir(), "demo"), processes: 2, promised: make(map[int32][]byte)}
	faulty := &faultFS{FS: quickFS{}, kind: kind, n: n, dead: dead}
	err := c.session(faulty)
	if !faulty.hit {
		if err != nil {
			t.Fatalf("call %d: without a fault: %v", n, err)
		}
		return false
	}
	if err != nil {
		if !errors.Is(err, errInjected) || !strings.Contains(err.Error(), c.dir) {
			t.Fatalf("call %d: error does not name path and cause: %v", n, err)
		}
		if _, err := os.Lstat(c.dir); err == nil && kind != "syncdir" {
			t.Fatalf("call %d: failed, but the bundle has its final name", n)
		}
		if err := c.session(quickFS{}); err != nil {
			t.Fatalf("call %d: resume: %v", n, err)
		}
	}
	c.check(t, fmt.Sprintf("call %d", n))
	return true
}

// TestFailedCreateLeavesNothing fails each call of a Create alone: what it had
// made is gone, and the name is free.
func TestFailedCreateLeavesNothing(t *testing.T) {
	faults := 0
	for _, kind := range faultKinds {
		for n := 1; ; n++ {
			root := t.TempDir()
			faulty := &faultFS{FS: quickFS{}, kind: kind, n: n}
			w, err := Create(faulty, filepath.Join(root, "demo"), []byte(studyPlan), studyRun(1), studyCells())
			if err == nil {
				w.Close()
				break
			}
			faults++
			if entries, rerr := os.ReadDir(root); rerr != nil || len(entries) > 0 {
				t.Errorf("%s %d: %v: left %v (%v)", kind, n, err, entries, rerr)
			}
		}
	}
	if faults < 20 {
		t.Errorf("only %d faults were injected", faults)
	}
}

// TestFaultsInEverySession lets no session go without a fault until there are
// no calls left to fail.
func TestFaultsInEverySession(t *testing.T) {
	for _, kind := range faultKinds {
		c := &collector{dir: filepath.Join(t.TempDir(), "demo"), processes: 4, promised: make(map[int32][]byte)}
		sessions := 0
		for n := 1; ; n++ {
			faulty := &faultFS{FS: quickFS{}, kind: kind, n: n, dead: true}
			err := c.session(faulty)
			sessions++
			if err == nil {
				break
			}
			if sessions > 500 {
				t.Fatalf("%s: no end after %d sessions: %v", kind, sessions, err)
			}
		}
		c.check(t, fmt.Sprintf("%s in %d sessions", kind, sessions))
	}
}

func TestDamagedCommitIsNotResumed(t *testing.T) {
	for name, damage := range map[string]func(partial string) error{
		"samples changed": func(partial string) error {
			return flipByte(filepath.Join(partial, sampleFile(1)), 30)
		},
		"samples missing": func(partial string) error { return os.Remove(filepath.Join(partial, sampleFile(1))) },
		"samples cut": func(partial string) error {
			return os.Truncate(filepath.Join(partial, sampleFile(1)), 10)
		},
		"commit cut": func(partial string) error { return os.Truncate(filepath.Join(partial, commitFile(1)), 40) },
		"commit of another process": func(partial string) error {
			return os.Rename(filepath.Join(partial, commitFile(1)), filepath.Join(partial, commitFile(9)))
		},
		"stray commit": func(partial string) error {
			return os.WriteFile(filepath.Join(partial, commitsDir, "x.json"), nil, 0o644)
		},
	} {
		dir := filepath.Join(t.TempDir(), "demo")
		w, err := Create(quickFS{}, dir, []byte(studyPlan), studyRun(1), studyCells())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(studyProcess(1), studySamples(1, 50)); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if err := damage(w.Dir()); err != nil {
			t.Fatal(err)
		}
		if _, err := Resume(quickFS{}, dir); !errors.Is(err, ErrIntegrity) || !strings.Contains(err.Error(), w.Dir()) {
			t.Errorf("%s: %v, want ErrIntegrity that names the file", name, err)
		}
	}
}

func flipByte(path string, at int) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	content[at] ^= 1
	return os.WriteFile(path, content, 0o644)
}

func TestRemovedProcessIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	w, err := Create(quickFS{}, dir, []byte(studyPlan), studyRun(0), studyCells())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(studyProcess(1), studySamples(1, 50)); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(studyProcess(1), studySamples(1, 50)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Append: %v, want fs.ErrExist", err)
	}
	for range 2 {
		if err := w.Remove(1); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.Processes(); len(got) != 0 {
		t.Errorf("%d processes are left", len(got))
	}
	if _, err := w.Seal(w.Run()); err != nil {
		t.Fatal(err)
	}
	if report := verifyClean(t, dir); report.Samples != 0 || report.Processes != 0 {
		t.Errorf("sealed %d processes and %d samples", report.Processes, report.Samples)
	}
	if err := w.Append(records.Process{ProcessNo: 2}, nil); !errors.Is(err, ErrSealed) {
		t.Errorf("Append to a sealed bundle: %v, want ErrSealed", err)
	}
}
