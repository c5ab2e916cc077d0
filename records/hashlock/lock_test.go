package hashlock

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/records"
	"pairbench/records/digest"
)

// write puts a file into dir and returns its path.
func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// directory returns a new directory without symbolic links in its path.
func directory(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func take(t *testing.T, roots ...Root) *Lock {
	t.Helper()
	l, err := Take(t.Context(), roots)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// rehash returns the findings of hashing again.
func rehash(t *testing.T, l *Lock) []string {
	t.Helper()
	findings, err := l.Rehash(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// find returns the only row that matches.
func find(t *testing.T, l *Lock, kind, name string) records.Input {
	t.Helper()
	var found []records.Input
	for _, in := range l.Inputs() {
		if in.Kind == kind && in.Name == name {
			found = append(found, in)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d rows of kind %s named %s, want 1", len(found), kind, name)
	}
	return found[0]
}

func TestUnchangedLockIsComplete(t *testing.T) {
	dir := directory(t)
	plan := write(t, dir, "plan.yaml", "study: x\n")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := take(t,
		Root{Kind: KindPlan, Path: plan},
		Root{Kind: KindBinary, Name: "driver", Path: self},
		Root{Kind: KindBuildSetting, Name: "GOGC", Value: "100", Side: records.SideB})
	if l.State() != "incomplete" {
		t.Error("a lock that was not hashed again says complete")
	}
	if findings := rehash(t, l); len(findings) > 0 {
		t.Errorf("findings although nothing changed: %v", findings)
	}
	if l.State() != "complete" || len(l.Gaps()) > 0 {
		t.Errorf("state %s, gaps %v, want complete", l.State(), l.Gaps())
	}
	row := find(t, l, KindPlan, plan)
	want := digest.Sum([]byte("study: x\n")).String()
	if text(row.SHA256) != want || text(row.SHA256After) != want || row.Bytes == nil || *row.Bytes != 9 {
		t.Errorf("plan row %+v, want both hashes %s and 9 bytes", row, want)
	}
	if find(t, l, KindBuildSetting, "go").Value == nil {
		t.Error("the Go version of a Go program is not in the lock")
	}
	if side := find(t, l, KindBuildSetting, "GOGC").Side; text(side) != "B" {
		t.Errorf("side of a setting of arm B is %s", text(side))
	}
}

func TestFilesOfBothArmsAreOneRow(t *testing.T) {
	dir := directory(t)
	shared := write(t, dir, "shared", "#!/bin/sh\n")
	l := take(t, Root{Kind: KindBinary, Name: "driver", Path: shared, Side: records.SideA}, Root{Kind: KindBinary, Name: "driver", Path: shared, Side: records.SideB})
	if side := find(t, l, KindScript, "driver").Side; side != nil {
		t.Errorf("side %s, want none: both arms use the file", *side)
	}
	shells := 0
	for _, in := range l.Inputs() {
		if in.ResolvedBy == "shebang" {
			shells++
			if in.Side != nil {
				t.Errorf("interpreter has side %s, want none", *in.Side)
			}
		}
	}
	if shells != 1 {
		t.Errorf("%d rows for the interpreter, want 1", shells)
	}
}

func TestScriptsLeadToTheirInterpreters(t *testing.T) {
	dir := directory(t)
	tool := write(t, dir, "bin/tool", "#!/bin/sh\n")
	loop := write(t, dir, "loop", "#!"+filepath.Join(dir, "loop")+"\n")
	for _, c := range []struct {
		name, content string
		interpreter   string
		gap           string
	}{
		{"plain", "#!/bin/sh -e\n", "/bin/sh", ""},
		{"blank", "#! /bin/sh\n", "/bin/sh", ""},
		{"env", "#!/usr/bin/env tool\n", "tool", ""},
		{"env -S", "#!/usr/bin/env -S A=1 tool -x\n", "tool", ""},
		{"env unknown", "#!/usr/bin/env no-such-tool\n", "no-such-tool", "not found on the PATH of the process"},
		{"missing", "#!" + dir + "/none\n", dir + "/none", "not found"},
	} {
		script := write(t, dir, "script "+c.name, c.content)
		l := take(t, Root{Kind: KindScript, Path: script, Env: []string{"PATH=" + filepath.Dir(tool)}})
		found := false
		for _, in := range l.Inputs() {
			if in.Name != c.interpreter {
				continue
			}
			found = true
			if gap := text(in.Gap); c.gap == "" && in.Gap != nil || c.gap != "" && gap != c.gap {
				t.Errorf("%s: gap of %s is %s, want %q", c.name, in.Name, gap, c.gap)
			}
			if text(in.RequiredBy) != script {
				t.Errorf("%s: required by %s, want %s", c.name, text(in.RequiredBy), script)
			}
		}
		if !found {
			t.Errorf("%s: no row for %s in %+v", c.name, c.interpreter, l.Inputs())
		}
	}
	gaps := strings.Join(take(t, Root{Kind: KindScript, Path: loop}).Gaps(), "\n")
	if !strings.Contains(gaps, "interpreter of an interpreter") {
		t.Errorf("a script that is its own interpreter has gaps %q", gaps)
	}
}

// TestWhatChangesIsFound makes one change for each case between Take and
// Rehash.
func TestWhatChangesIsFound(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(t *testing.T, dir string)
		finding string
	}{
		{"changed", func(t *testing.T, dir string) { write(t, dir, "plan", "other\n") }, "sha256 was "},
		{"removed", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "plan")); err != nil {
				t.Fatal(err)
			}
		}, "is absent"},
		{"replaced by a link", func(t *testing.T, dir string) {
			other := write(t, dir, "other", "plan\n")
			path := filepath.Join(dir, "plan")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(other, path); err != nil {
				t.Fatal(err)
			}
		}, "path was "},
		{"made a directory", func(t *testing.T, dir string) {
			path := filepath.Join(dir, "plan")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "is absent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := directory(t)
			l := take(t, Root{Kind: KindPlan, Name: "plan", Path: write(t, dir, "plan", "plan\n")})
			before := l.Inputs()
			c.change(t, dir)
			findings := rehash(t, l)
			if len(findings) != 1 || !strings.Contains(findings[0], c.finding) || !strings.Contains(findings[0], "plan plan") {
				t.Errorf("findings %q, want one with %q", findings, c.finding)
			}
			row := find(t, l, KindPlan, "plan")
			if text(row.SHA256) != text(before[0].SHA256) {
				t.Error("the first hash was overwritten")
			}
			if row.Gap == nil || l.State() != "incomplete" {
				t.Errorf("state %s, gap %s, want an incomplete lock with a gap", l.State(), text(row.Gap))
			}
		})
	}
}

func TestUnreadableInputsAreGaps(t *testing.T) {
	dir := directory(t)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		filepath.Join(dir, "missing"),
		filepath.Join(dir, "folder"),
		write(t, dir, "short.elf", "\x7fELF"),
		write(t, dir, "text", "no program"),
		write(t, dir, "fat", "\xca\xfe\xba\xbe\xff\xff\xff\xff"),
	} {
		l := take(t, Root{Kind: KindBinary, Path: path})
		row := find(t, l, KindBinary, path)
		if row.Gap == nil {
			t.Errorf("%s: no gap in %+v", path, row)
		}
		if findings := rehash(t, l); len(findings) > 0 {
			t.Errorf("%s: findings although nothing changed: %v", path, findings)
		}
		if l.State() != "incomplete" {
			t.Errorf("%s: state %s", path, l.State())
		}
	}
}

func TestTakeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Take(ctx, []Root{{Kind: KindPlan, Path: "/etc/passwd"}}); err == nil {
		t.Error("a lock was taken although its context had ended")
	}
}

func TestDiffNamesEveryDifference(t *testing.T) {
	row := func(kind, name, sum string) records.Input {
		return records.Input{Kind: kind, Name: name, SHA256: &sum, ResolvedBy: "argv"}
	}
	mapped := row(KindLibrary, "/opt/plugin.so", "1")
	mapped.ResolvedBy = resolvedByMappings
	before := []records.Input{row("binary", "driver", "a1"), row("library", "libc.so.6", "b1"), row("plan", "plan.yaml", "c1"), row("script", "twice", "d1"), row("script", "twice", "d2"), mapped}
	now := []records.Input{row("binary", "driver", "a2"), row("plan", "plan.yaml", "c1"), row("library", "libm.so.6", "e1"), row("script", "twice", "d1"), row("script", "twice", "d3")}
	want := []string{
		"binary driver: sha256 was a1, is a2",
		"library libc.so.6: no longer there",
		"library libm.so.6: was not there before",
		"script twice: sha256 was d2, is d3",
	}
	if diff := cmp.Diff(want, Diff(before, now)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if lines := Diff(before, before); len(lines) > 0 {
		t.Errorf("a lock differs from itself: %v", lines)
	}
	shuffled := slices.Clone(now)
	slices.Reverse(shuffled[:3])
	if diff := cmp.Diff(Diff(before, now), Diff(before, shuffled)); diff != "" {
		t.Errorf("the order of rows changes the differences:\n%s", diff)
	}
}

// repository makes a git work tree with one commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := directory(t)
	write(t, dir, "tracked.txt", "one\n")
	write(t, dir, ".gitignore", "ignored/\n")
	run(t, dir, "init", "-q")
	run(t, dir, "add", "tracked.txt", ".gitignore")
	run(t, dir, "commit", "-q", "-m", "start")
	return dir
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s (package git)", args, err, out)
	}
}

func TestSourceTreeState(t *testing.T) {
	dir := repository(t)
	state := func() records.Input {
		t.Helper()
		row := find(t, take(t, Root{Kind: KindSourceTree, Name: "src", Path: dir, Exclude: []string{filepath.Join(dir, "results")}}), KindSourceTree, "src")
		if row.Gap != nil {
			t.Fatalf("gap: %s", *row.Gap)
		}
		return row
	}
	clean := state()
	if strings.Contains(text(clean.Value), "dirty") || len(text(clean.Value)) < 40 {
		t.Fatalf("a clean tree has the state %s", text(clean.Value))
	}
	if want := digest.Sum(nil).String(); text(clean.SHA256) != want {
		t.Errorf("differences of a clean tree hash to %s, want that of nothing, %s", text(clean.SHA256), want)
	}
	write(t, dir, "ignored/x", "1")
	write(t, dir, "results/run.partial/x", "1")
	if diff := cmp.Diff(clean, state()); diff != "" {
		t.Errorf("ignored and excluded files change the state:\n%s", diff)
	}
	seen := map[string]string{text(clean.SHA256): "clean"}
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"untracked file", func() { write(t, dir, "new.txt", "1") }},
		{"other content of the untracked file", func() { write(t, dir, "new.txt", "2") }},
		{"tracked file changed", func() { write(t, dir, "tracked.txt", "two\n") }},
		{"binary content", func() { write(t, dir, "tracked.txt", "\x00\x01\x02") }},
		{"other binary content of the same length", func() { write(t, dir, "tracked.txt", "\x00\x01\x03") }},
		{"staged", func() { write(t, dir, "staged.txt", "s"); run(t, dir, "add", "staged.txt") }},
		{"removed", func() { _ = os.Remove(filepath.Join(dir, "tracked.txt")) }},
	} {
		c.change()
		row := state()
		if !strings.HasSuffix(text(row.Value), " dirty") {
			t.Errorf("%s: state is %s, want dirty", c.name, text(row.Value))
		}
		if other, ok := seen[text(row.SHA256)]; ok {
			t.Errorf("%s: the same hash as %s", c.name, other)
		}
		seen[text(row.SHA256)] = c.name
	}
}

func TestTreeWithoutRepositoryIsAGap(t *testing.T) {
	row := find(t, take(t, Root{Kind: KindSourceTree, Name: "src", Path: directory(t)}), KindSourceTree, "src")
	if !strings.Contains(text(row.Gap), "state of the source tree unknown") {
		t.Errorf("gap %s", text(row.Gap))
	}
}
