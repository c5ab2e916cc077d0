package hashlock

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pairbench/records"
)

// mapFile maps a file into this process as a loader would.
func mapFile(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := syscall.Mmap(int(f.Fd()), 0, 1, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(b); err != nil {
			t.Error(err)
		}
	})
}

// settle waits until the file system's clock has moved past the files that are
// there already, so that "before the lock" is decided by order and not by the
// grain of time stamps.
func settle(t *testing.T, dir string) {
	t.Helper()
	start := time.Now()
	for deadline := start.Add(5 * time.Second); ; {
		info, err := os.Stat(write(t, dir, "clock", "x"))
		if err != nil {
			t.Fatal(err)
		}
		if changed, ok := changeTime(info); ok && changed.After(start) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the file system's clock stands still")
		}
	}
}

func TestLibrariesOpenedAtRunTimeAreCaught(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := directory(t)
	old := write(t, dir, "old plugin.so", "old")
	settle(t, dir)
	l := take(t, Root{Kind: KindBinary, Path: self})
	known := len(l.Inputs())
	settle(t, dir)
	fresh := write(t, dir, "fresh.so", "fresh")
	deleted := write(t, dir, "deleted.so", "deleted")
	changed := write(t, dir, "changed.so", "changed")
	for _, path := range []string{old, fresh, deleted, changed} {
		mapFile(t, path)
	}
	if err := os.Remove(deleted); err != nil {
		t.Fatal(err)
	}
	for _, side := range []records.Side{records.SideA, records.SideA} {
		if err := l.AddMappings(os.Getpid(), side); err != nil {
			t.Fatal(err)
		}
	}
	rows := l.Inputs()
	if len(rows) != known+4 {
		t.Fatalf("%d rows were added, want 4: %+v", len(rows)-known, rows[known:])
	}
	if gap := text(find(t, l, KindLibrary, old).Gap); gap != notYetHashed {
		t.Errorf("gap before the second hash: %s", gap)
	}
	write(t, dir, "changed.so", "changed later")
	rehash(t, l)

	row := find(t, l, KindLibrary, old)
	if row.SHA256 != nil || row.SHA256After == nil || row.Gap != nil || row.ResolvedBy != "mappings" || text(row.Side) != "A" {
		t.Errorf("row of a library older than the lock: %+v; want only the later hash, no gap, side A", row)
	}
	for path, gap := range map[string]string{
		fresh:   "opened at run time, and changed after the first hashes were taken",
		changed: "changed after a process had mapped it",
		deleted: "mapped by a process, but its file was replaced or deleted",
	} {
		row := find(t, l, KindLibrary, path)
		if text(row.Gap) != gap || row.SHA256 != nil {
			t.Errorf("%s: gap %q, first hash %s; want gap %q and no first hash", filepath.Base(path), text(row.Gap), text(row.SHA256), gap)
		}
	}
	if l.State() != "incomplete" {
		t.Error("a lock with gaps says complete")
	}
}

func TestMappingsOfBothArmsHaveNoSide(t *testing.T) {
	dir := directory(t)
	path := write(t, dir, "plugin.so", "x")
	mapFile(t, path)
	l := take(t)
	for _, side := range records.Sides {
		if err := l.AddMappings(os.Getpid(), side); err != nil {
			t.Fatal(err)
		}
	}
	if side := find(t, l, KindLibrary, path).Side; side != nil {
		t.Errorf("side %s, want none", *side)
	}
}

func TestRowsOfAnEarlierSessionAreKept(t *testing.T) {
	dir := directory(t)
	path := write(t, dir, "plugin.so", "x")
	settle(t, dir)
	before := records.Input{Kind: KindLibrary, Name: path, Path: &path, ResolvedBy: "mappings"}
	l := take(t)
	l.Keep([]records.Input{before, {Kind: KindPlan, Name: "plan", ResolvedBy: "plan"}})
	rehash(t, l)
	if rows := l.Inputs(); len(rows) != 1 || rows[0].SHA256After == nil || rows[0].Gap != nil {
		t.Errorf("rows %+v, want the library alone, hashed afterwards", rows)
	}
}

func TestMappingsOfAnEndedProcessAreAnError(t *testing.T) {
	l := take(t)
	err := l.AddMappings(1<<30, "")
	if err == nil || !strings.Contains(err.Error(), "read mappings of process 1073741824") {
		t.Errorf("error %v", err)
	}
}

func TestParseMaps(t *testing.T) {
	const maps = `55d0c0000000-55d0c0001000 r--p 00000000 fe:01 11 /usr/bin/app
55d0c0001000-55d0c0002000 r-xp 00001000 fe:01 11 /usr/bin/app
7f3c00000000-7f3c00021000 rw-p 00000000 00:00 0 
7f3c10000000-7f3c10021000 r-xp 00000000 fe:01 12                         /opt/with blank/lib.so
7f3c20000000-7f3c20021000 r-xp 00000000 fe:01 13                         /opt/gone.so (deleted)
7f3c30000000-7f3c30021000 r--p 00000000 fe:01 14                         /usr/share/locale.dat
7f3c40000000-7f3c40021000 rwxp 00000000 00:00 0                          [heap]
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]
7f3c50000000-7f3c50021000 r-xp 00000000 fe:01 12                         /opt/with blank/lib.so
damaged
`
	want := []mappedFile{{path: "/usr/bin/app"}, {path: "/opt/with blank/lib.so"}, {path: "/opt/gone.so", deleted: true}}
	if diff := cmp.Diff(want, parseMaps([]byte(maps)), cmp.AllowUnexported(mappedFile{})); diff != "" {
		t.Errorf("mapped files (-want +got):\n%s", diff)
	}
}

func FuzzParseMaps(f *testing.F) {
	f.Add([]byte("7f3c10000000-7f3c10021000 r-xp 00000000 fe:01 12 /opt/lib.so (deleted)\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range parseMaps(b) {
			if !strings.HasPrefix(m.path, "/") {
				t.Errorf("path %q is not absolute", m.path)
			}
		}
	})
}

// TestArmsWithTheirOwnLibraries runs one program under two environments: each
// arm has its own copy of a library, and all else is shared.
func TestArmsWithTheirOwnLibraries(t *testing.T) {
	dir := directory(t)
	var libc, name string
	for _, in := range take(t, Root{Kind: KindBinary, Path: "/bin/sh"}).Inputs() {
		if in.Kind == KindLibrary && strings.HasPrefix(in.Name, "libc.") {
			libc, name = *in.Path, in.Name
		}
	}
	content, err := os.ReadFile(libc)
	if err != nil {
		t.Fatalf("C library of /bin/sh: %v", err)
	}
	copied := write(t, dir, name, string(content))
	l := take(t,
		Root{Kind: KindBinary, Name: "driver", Path: "/bin/sh", Side: records.SideA},
		Root{Kind: KindBinary, Name: "driver", Path: "/bin/sh", Side: records.SideB, Env: []string{"LD_LIBRARY_PATH=" + dir}})
	got := map[string]string{}
	for _, in := range l.Inputs() {
		switch {
		case in.Name == name:
			got[*in.Path] = text(in.Side)
		case in.Side != nil:
			t.Errorf("%s has side %s, want none", in.Name, *in.Side)
		}
	}
	if diff := cmp.Diff(map[string]string{libc: "A", copied: "B"}, got); diff != "" {
		t.Errorf("C libraries by side (-want +got):\n%s", diff)
	}
	rehash(t, l)
	if l.State() != "complete" {
		t.Errorf("gaps %v", l.Gaps())
	}
}
