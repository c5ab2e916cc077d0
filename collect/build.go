package collect

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"pairbench/collect/plan"
	"pairbench/records/digest"
)

// ownSource is the repository of a build that means the product's own tree.
const ownSource = "{pairbench}"

// buildTail is how much of a failed command's output its error shows.
const buildTail = 2 << 10

// build makes the program of a revision in a work tree of its own: a clone in
// the collection's private directory, which leaves no trace in the repository.
func (c *collection) build(ctx context.Context, b plan.Build, no int) (*program, error) {
	c.progress(Progress{Phase: "build"})
	began := time.Now()
	defer func() { c.building += time.Since(began) }()
	tree := filepath.Join(c.work, fmt.Sprintf("build-%d", no))
	commit, err := c.checkOut(ctx, b, tree)
	if err != nil {
		return nil, c.buildError(b, err)
	}
	if len(b.GoModules) > 0 {
		argv := []string{"go", "get"}
		for module, version := range b.GoModules {
			argv = append(argv, module+"@"+version)
		}
		slices.Sort(argv[2:])
		if _, err := c.command(ctx, tree, argv...); err != nil {
			return nil, c.buildError(b, err)
		}
	}
	if _, err := c.command(ctx, tree, b.Command...); err != nil {
		return nil, c.buildError(b, err)
	}
	path := filepath.Join(tree, b.Binary)
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		if rel, rerr := filepath.Rel(tree, real); rerr != nil || !filepath.IsLocal(rel) {
			err = fmt.Errorf("%s leads out of the work tree", b.Binary)
		}
	}
	if err != nil {
		return nil, c.buildError(b, fmt.Errorf("the command left no %s: %w", b.Binary, err))
	}
	sum, _, err := digest.File(real)
	if err != nil {
		return nil, c.buildError(b, err)
	}
	return &program{path: real, args: b.Args, sha256: sum, tree: tree, revision: commit}, nil
}

func (c *collection) buildError(b plan.Build, err error) error {
	return &SetupError{Object: "build " + c.secrets.Text(b.Repository) + " " + b.Revision, Err: err}
}

// checkOut clones the repository and checks the revision out; it returns the
// commit.
func (c *collection) checkOut(ctx context.Context, b plan.Build, tree string) (string, error) {
	repository := b.Repository
	if repository == ownSource {
		root, err := c.sourceRoot()
		if err != nil {
			return "", err
		}
		repository = root
	}
	revision := b.Revision
	key := repository + "\x00" + revision
	if commit, ok := c.commits[key]; ok {
		// A branch that moves while one arm is built must not part the arms.
		revision = commit
	} else if info, err := os.Stat(repository); err == nil && info.IsDir() {
		// HEAD and branches mean those of the repository, not of the clone.
		out, err := c.command(ctx, repository, "git", "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
		if err != nil {
			return "", err
		}
		revision = strings.TrimSpace(out)
	}
	if info, err := os.Stat(repository); err == nil && info.IsDir() {
		if repository, err = filepath.Abs(repository); err != nil {
			return "", err
		}
	}
	if _, err := c.command(ctx, c.work, "git", "clone", "--quiet", "--no-checkout", "--", repository, tree); err != nil {
		return "", err
	}
	commit, err := c.resolveIn(ctx, tree, revision)
	if err != nil {
		return "", err
	}
	c.commits[key] = commit
	_, err = c.command(ctx, tree, "git", "checkout", "--quiet", "--detach", commit)
	return commit, err
}

// resolveIn finds a commit in a clone: by itself, or as a branch of the origin.
func (c *collection) resolveIn(ctx context.Context, tree, revision string) (string, error) {
	out, err := c.command(ctx, tree, "git", "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		remote, rerr := c.command(ctx, tree, "git", "rev-parse", "--verify", "--end-of-options", "refs/remotes/origin/"+revision+"^{commit}")
		if rerr != nil {
			return "", err
		}
		out = remote
	}
	return strings.TrimSpace(out), nil
}

// command runs one step of a build with the collector's environment and returns
// its standard output. The error ends with the last lines that it wrote.
func (c *collection) command(ctx context.Context, dir string, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(c.env), "GIT_TERMINAL_PROMPT=0", "PWD="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		said := problems.Bytes()
		if len(bytes.TrimSpace(said)) == 0 {
			said = out.Bytes()
		}
		tail := bytes.TrimSpace(c.secrets.Clean(said))
		if len(tail) > buildTail {
			tail = tail[len(tail)-buildTail:]
		}
		return "", fmt.Errorf("%s: %w: %s", strings.Join(c.secrets.Argv(argv), " "), err, oneLine(tail))
	}
	return out.String(), nil
}

// oneLine joins lines, so that an error stays one line.
func oneLine(text []byte) string {
	var out []string
	for _, line := range lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return strings.ToValidUTF8(strings.Join(out, " | "), "\uFFFD")
}
