package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"pairbench/collect/plan"
	"pairbench/collect/proc"
	"pairbench/records"
	"pairbench/records/digest"
)

// program is what one side of a suite runs.
type program struct {
	// path is the executable, args what follows it, with placeholders.
	path string
	args []string
	// read is set for a program that does not speak the protocol.
	read   *plan.Read
	sha256 digest.SHA256
	// tree and revision are set for a program that was built here.
	tree     string
	revision string
}

// programs finds or builds what the suites run: by suite, then side A and B.
func (c *collection) programs(ctx context.Context) error {
	built := make(map[string]*program)
	c.progs = make([][2]*program, len(c.plan.Suites))
	for i, s := range c.plan.Suites {
		for k := range records.Sides {
			choice := s.Programs[k]
			if c.opts.AA {
				choice = s.Programs[0]
			}
			p, err := c.program(ctx, choice, built)
			if err != nil {
				return fmt.Errorf("suite %s, arm %s: %w", s.ID, c.plan.Arms[k].Name, err)
			}
			c.progs[i][k] = p
		}
		if err := c.refuseSame(s, c.progs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) program(ctx context.Context, choice plan.Program, built map[string]*program) (*program, error) {
	p := &program{read: choice.Read}
	switch {
	case choice.Build != nil:
		key := fmt.Sprintf("%#v", *choice.Build)
		if done, ok := built[key]; ok {
			copied := *done
			copied.read = choice.Read
			return &copied, nil
		}
		b, err := c.build(ctx, *choice.Build, len(built)+1)
		if err != nil {
			return nil, err
		}
		b.read = choice.Read
		built[key] = b
		return b, nil
	case choice.Builtin != "":
		path, err := c.findBuiltin(choice.Builtin)
		if err != nil {
			return nil, err
		}
		p.path = path
	default:
		argv0, err := c.expand(choice.Command[0], plan.Start{}, placeholderValues{})
		if err != nil {
			// The program itself depends on the cell: found when it is started.
			p.args = choice.Command
			return p, nil
		}
		path, err := proc.Resolve(argv0)
		if err != nil {
			return nil, &SetupError{Object: "program " + argv0, Err: unwrapStart(err)}
		}
		p.path, p.args = path, choice.Command[1:]
	}
	sum, _, err := digest.File(p.path)
	if err != nil {
		return nil, &SetupError{Object: "program " + p.path, Err: err}
	}
	p.sha256 = sum
	return p, nil
}

func unwrapStart(err error) error {
	var start *proc.StartError
	if errors.As(err, &start) {
		return start.Err
	}
	return err
}

// builtinHelp says how to get a built-in driver that is not there.
var builtinHelp = map[string]string{
	"pbdriver":        "make build",
	"asio_boost":      "make -C collect/asio",
	"asio_standalone": "make -C collect/asio",
}

// findBuiltin looks for a driver beside this program, and the C++ ones also
// where their Makefile leaves them.
func (c *collection) findBuiltin(name string) (string, error) {
	dirs := []string{c.opts.BinDir}
	if root, err := c.sourceRoot(); err == nil {
		dirs = append(dirs, filepath.Join(root, "collect", "asio", "build"))
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &SetupError{Object: "program " + name,
		Err: fmt.Errorf("not found in %s; it is built by: %s", c.opts.BinDir, builtinHelp[name])}
}

// sourceRoot finds the product's own source tree: the directory of this program
// or of the working directory, or one above.
func (c *collection) sourceRoot() (string, error) {
	starts := []string{c.opts.BinDir}
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	for _, dir := range starts {
		for range 6 {
			mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
			if err == nil && slices.Contains(lines(mod), "module pairbench") {
				return dir, nil
			}
			dir = filepath.Dir(dir)
		}
	}
	return "", errors.New("the source tree of pairbench is neither above the program nor above the working directory")
}

// refuseSame stops a comparison of a binary with itself that nobody asked for.
// Drivers that speak the protocol learn their arm from the job, so that one
// binary may well be both; builds and plain programs do not.
func (c *collection) refuseSame(s plan.Suite, p [2]*program) error {
	if c.opts.AA || p[0].path == "" || p[0].sha256 != p[1].sha256 {
		return nil
	}
	a, b := c.plan.Arms[0], c.plan.Arms[1]
	same := p[0].tree != "" && p[1].tree != ""
	if p[0].read != nil && p[1].read != nil && slices.Equal(p[0].args, p[1].args) &&
		fmt.Sprint(a.Env) == fmt.Sprint(b.Env) && !slices.ContainsFunc(p[0].args, namesArm) {
		same = true
	}
	if !same {
		return nil
	}
	return &SetupError{Object: "suite " + s.ID, Err: fmt.Errorf(
		"arms %s and %s run the same binary, sha256 %s; --aa does so on purpose", a.Name, b.Name, p[0].sha256)}
}

// namesArm reports whether an argument differs between the arms.
func namesArm(argument string) bool {
	found := false
	_, _ = plan.Expand(argument, func(name string) (string, bool) {
		found = found || name == "arm" || name == "side"
		return "", true
	})
	return found
}

// placeholderValues are the values of a start that are no factors.
type placeholderValues struct {
	cell    plan.Cell
	suite   string
	arm     string
	address string
}

// expand replaces the placeholders of one argument.
func (c *collection) expand(argument string, start plan.Start, v placeholderValues) (string, error) {
	return plan.Expand(argument, func(name string) (string, bool) {
		if f, ok := v.cell.Factor(name); ok {
			return f.String(), true
		}
		host, port := splitAddress(v.address)
		values := map[string]string{
			"suite": v.suite, "cell": v.cell.CellID, "arm": v.arm, "side": string(start.Side),
			"round": fmt.Sprint(start.Round), "service_address": v.address, "service_host": host, "service_port": port,
		}
		if value, ok := values[name]; ok {
			return value, value != "" && value != "0"
		}
		if len(name) > 4 && name[:4] == "env." {
			value, ok := lookupEnv(c.env, name[4:])
			return value, ok
		}
		return "", false
	})
}
