package collect

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWorkDirsOfKilledCollectionsGo(t *testing.T) {
	parent := t.TempDir()
	alive, err := newWorkDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	killed, err := newWorkDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(killed.path, "build", "read-only"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(killed.path, "build", "read-only", "key.pem"), []byte("k"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(killed.path, "build", "read-only"), 0o500); err != nil {
		t.Fatal(err)
	}
	// Closing the lock is what the kernel does when the owner is killed.
	if err := killed.lock.Close(); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(parent, workPrefix+"foreign")
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	next, err := newWorkDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{alive.path: true, killed.path: false, next.path: true, foreign: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", filepath.Base(path), err == nil, want)
		}
	}
	if err := next.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(next.path); err == nil {
		t.Error("a removed directory is still there")
	}
}
