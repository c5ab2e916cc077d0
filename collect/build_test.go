package collect_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pairbench/collect"
	"pairbench/records"
)

// repository makes a git repository of a program that prints the number of the
// commit it is built from.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	for _, n := range []string{"1", "2"} {
		if err := os.WriteFile(filepath.Join(dir, "ops"), []byte("#!/bin/sh\necho "+n+" $1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "-q", "-m", n)
		git("tag", "v"+n)
	}
	return dir
}

const buildPlan = `programs:
      one: {build: {repository: REPO, revision: v1, command: [cp, ops, built], binary: built, args: ["{n}"]}, read: {fields: {errors: {regexp: '^9([0-9])'}}}}
      two: {build: {repository: REPO, revision: REVISION, command: ["COMMAND", ops, built], binary: built, args: ["{n}"]}, read: {}}`

func TestBuiltArms(t *testing.T) {
	repo := repository(t)
	plan := func(revision, command string) string {
		return strings.NewReplacer("REPO", repo, "REVISION", revision, "COMMAND", command).Replace(buildPlan)
	}
	b := newBed(t)
	result := b.collect(b.options(b.parse(plan("main", "cp"))))
	sealed, processes := b.open()
	if string(processes[0].Stdout) != "1 3\n" || string(processes[1].Stdout) != "2 3\n" || len(result.Failed) != 0 {
		t.Errorf("the arms print %q and %q", processes[0].Stdout, processes[1].Stdout)
	}
	arms := result.Run.Arms
	if arms[0].Revision == nil || arms[1].Revision == nil || *arms[0].Revision == *arms[1].Revision || arms[0].Digest == nil || *arms[0].Digest == *arms[1].Digest {
		t.Errorf("arms are recorded as %+v", arms)
	}
	inputs, err := sealed.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	trees := 0
	for _, in := range inputs {
		if in.Kind == "source_tree" && in.Value != nil && strings.HasPrefix(*in.Value, *arms[trees].Revision) {
			trees++
		}
	}
	if trees != 2 {
		t.Errorf("%d of 2 source trees are in the lock", trees)
	}
	if strings.Contains(processes[0].Argv, os.TempDir()) {
		t.Errorf("the private directory is in the record: %s", processes[0].Argv)
	}

	for name, tt := range map[string]struct{ revision, command, want string }{
		"the same binary":  {"v1", "cp", "run the same binary"},
		"no such revision": {"v9", "cp", "git rev-parse"},
		"a failing build":  {"v2", "false", "false ops built: exit status 1"},
		"no binary":        {"v2", "true", "the command left no built"},
	} {
		b := newBed(t)
		_, err := collect.Run(context.Background(), b.options(b.parse(plan(tt.revision, tt.command))))
		var setup *collect.SetupError
		if !errors.As(err, &setup) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}

	b = newBed(t)
	opts := b.options(b.parse(plan("v1", "cp")))
	opts.AA = true
	if result := b.collect(opts); result.Run.Processes != 2 || !result.Run.AA {
		t.Errorf("--aa of one binary: %+v", result.Run)
	}
	if _, processes := b.open(); processes[1].Side != records.SideB {
		t.Errorf("--aa records side %s", processes[1].Side)
	}
}
