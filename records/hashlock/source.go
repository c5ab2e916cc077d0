package hashlock

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"pairbench/records"
	"pairbench/records/digest"
)

// sourceTree adds the state of a work tree: the revision, and one hash over all
// that differs from it. The hash streams, for each difference in git's order,
//
//	git diff --binary HEAD                        for tracked files
//	"untracked " mode " " sha256 " " name "\n"    for each untracked file, by name
func (t *taking) sourceTree(ctx context.Context, root Root, in records.Input) {
	real := realPath(root.Path)
	in.Path, in.ResolvedBy = &real, "git"
	value, sum, err := treeState(ctx, real, root.Exclude)
	if err != nil {
		in.Gap = ptr("state of the source tree unknown: " + err.Error())
	} else {
		in.Value, in.SHA256 = &value, ptr(sum.String())
	}
	t.add(in, root.Side)
}

// treeState returns a tree's revision, " dirty" behind it when anything
// differs, and the hash of the differences.
func treeState(ctx context.Context, dir string, exclude []string) (string, digest.SHA256, error) {
	revision, err := git(ctx, dir, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return "", digest.SHA256{}, err
	}
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", digest.SHA256{}, err
	}
	root := strings.TrimSuffix(string(top), "\n")
	paths := append([]string{"--", ":(top)"}, excluding(root, exclude)...)
	status, err := git(ctx, dir, append([]string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=none"}, paths...)...)
	if err != nil {
		return "", digest.SHA256{}, err
	}
	untracked, err := readStatus(status)
	if err != nil {
		return "", digest.SHA256{}, err
	}
	w := digest.NewWriter(io.Discard)
	diff := gitCommand(ctx, dir, append([]string{"diff", "--binary", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index", "HEAD"}, paths...)...)
	diff.Stdout = w
	if err := runGit(diff); err != nil {
		return "", digest.SHA256{}, err
	}
	for _, name := range untracked {
		line, err := untrackedLine(root, name)
		if err != nil {
			return "", digest.SHA256{}, err
		}
		if _, err := io.WriteString(w, line); err != nil {
			return "", digest.SHA256{}, err
		}
	}
	value := strings.TrimSpace(string(revision))
	if len(status) > 0 {
		value += " dirty"
	}
	return value, w.Sum(), nil
}

// excluding returns git's path specifications for what does not count. What
// lies outside the tree needs none.
func excluding(root string, exclude []string) []string {
	var specs []string
	for _, path := range exclude {
		// The last element may not be there yet.
		real := filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path))
		rel, err := filepath.Rel(root, real)
		if err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, "../") {
			specs = append(specs, ":(top,exclude,literal)"+filepath.ToSlash(rel))
		}
	}
	return specs
}

// readStatus returns the untracked files, sorted. A submodule with changes of
// its own is an error: the diff does not say what they are.
func readStatus(status []byte) ([]string, error) {
	var untracked []string
	fields := bytes.Split(status, []byte{0})
	for i := 0; i < len(fields); i++ {
		entry := string(fields[i])
		switch {
		case strings.HasPrefix(entry, "? "):
			untracked = append(untracked, entry[2:])
		case strings.HasPrefix(entry, "2 "):
			i++ // a rename has its former path in the next field
			fallthrough
		case strings.HasPrefix(entry, "1 "):
			words := strings.SplitN(entry, " ", 9)
			if sub := words[2]; len(sub) == 4 && sub[0] == 'S' && (sub[2] == 'M' || sub[3] == 'U') {
				return nil, fmt.Errorf("submodule %s has changes of its own", words[len(words)-1])
			}
		}
	}
	slices.Sort(untracked)
	return untracked, nil
}

// untrackedLine describes one untracked file for the hash. A directory is
// another repository, which git does not look into.
func untrackedLine(top, name string) (string, error) {
	path := filepath.Join(top, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	var sum digest.SHA256
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		sum = digest.Sum([]byte(target))
	case info.Mode().IsRegular():
		if sum, _, err = digest.File(path); err != nil {
			return "", err
		}
	default:
		return "", fmt.Errorf("untracked %s is no file: %s", name, info.Mode().Type())
	}
	return fmt.Sprintf("untracked %s %s %s\n", info.Mode(), sum, name), nil
}

// gitCommand prepares git so that it writes nothing to the repository, and runs
// no hook and no monitor that the repository asks for.
func gitCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
	return cmd
}

func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	var out bytes.Buffer
	cmd := gitCommand(ctx, dir, args...)
	cmd.Stdout = &out
	err := runGit(cmd)
	return out.Bytes(), err
}

// runGit runs a prepared command; the error holds git's first line.
func runGit(cmd *exec.Cmd) error {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		if line == "" {
			return fmt.Errorf("git: %w", err)
		}
		return fmt.Errorf("git: %w: %s", err, line)
	}
	return nil
}
