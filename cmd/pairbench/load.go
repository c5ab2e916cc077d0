package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"pairbench/analyze"
	"pairbench/collect/importer/result"
	"pairbench/collect/plan"
	"pairbench/records/bundle"
)

// maxPlanBytes is one byte more than plan.Parse takes, so that it can say so.
const maxPlanBytes = 1<<20 + 1

// wholePlan reads the built-in plan of that name or the plan file at that path.
func wholePlan(word string) (*plan.Plan, error) {
	source, builtin := plan.Builtin(word)
	if !builtin {
		var err error
		if source, err = readPlan(word); err != nil {
			return nil, err
		}
	}
	return plan.Parse(source, visible(word))
}

// loadPlan reads a plan as wholePlan does and narrows it by the command's
// selection flags.
func loadPlan(c *cli.Context, word string) (*plan.Plan, error) {
	sel, err := selection(c)
	if err != nil {
		return nil, err
	}
	p, err := wholePlan(word)
	if err != nil {
		return nil, err
	}
	return p.Select(sel)
}

func readPlan(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usagef("plan %s: no such file, and not one of the built-in plans %s", visible(path), strings.Join(plan.BuiltinNames(), ", "))
	}
	if err != nil {
		return nil, usagef("plan %s: %w", visible(path), errors.Unwrap(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, usagef("plan %s: is a directory, expected a YAML file", visible(path))
	}
	source, err := io.ReadAll(io.LimitReader(f, maxPlanBytes))
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", visible(path), err)
	}
	return source, nil
}

// isBadPlan reports whether err is the plan's or the selection's fault.
func isBadPlan(err error) bool {
	var bad *plan.Error
	var selection *plan.SelectionError
	return errors.As(err, &bad) || errors.As(err, &selection)
}

// isIntegrity reports whether err says that evidence is not what it claims: a
// bundle, or a file that is to be imported.
func isIntegrity(err error) bool {
	var badFile *result.Error
	return errors.Is(err, bundle.ErrIntegrity) || errors.Is(err, analyze.ErrInvalid) || errors.As(err, &badFile)
}

// sibling is the default place of a result: beside what it was made from.
func sibling(of, name string) string { return filepath.Join(filepath.Dir(filepath.Clean(of)), name) }

// refuseExisting keeps a command from writing over what is there, and into a
// bundle, which would no longer be what its manifests say.
func refuseExisting(flag, path string) error {
	if dir, ok := bundleAround(path); ok {
		return usagef("%s %s: lies in the bundle %s, which nothing may be added to", flag, visible(path), visible(dir))
	}
	if _, err := os.Lstat(path); err == nil {
		return usagef("%s %s: exists already; name a new one", flag, visible(path))
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s %s: %w", flag, visible(path), errors.Unwrap(err))
	}
	return nil
}

// bundleAround returns the bundle that a path lies in.
func bundleAround(path string) (dir string, ok bool) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	for dir = filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(bundle.RunFile))); err == nil {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func baseName(path string) string { return filepath.Base(filepath.Clean(path)) }
