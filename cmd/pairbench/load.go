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
	"pairbench/collect/plan"
	"pairbench/records/bundle"
)

// maxPlanBytes is one byte more than plan.Parse takes, so that it can say so.
const maxPlanBytes = 1<<20 + 1

// loadPlan reads the built-in plan of that name or the plan file at that path,
// and narrows it by the command's selection flags. A word that ends in .yaml or
// .yml or holds a separator is always a path.
func loadPlan(c *cli.Context, word string) (*plan.Plan, error) {
	sel, err := selection(c)
	if err != nil {
		return nil, err
	}
	source, builtin := plan.Builtin(word)
	if !builtin {
		if source, err = readPlan(word); err != nil {
			return nil, err
		}
	}
	p, err := plan.Parse(source, visible(word))
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

// isIntegrity reports whether err says that evidence is not what it claims.
func isIntegrity(err error) bool {
	return errors.Is(err, bundle.ErrIntegrity) || errors.Is(err, analyze.ErrInvalid)
}

// sibling is the default place of a result: beside what it was made from.
func sibling(of, name string) string { return filepath.Join(filepath.Dir(filepath.Clean(of)), name) }

// refuseExisting keeps a command from writing over what is there.
func refuseExisting(command, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return usagef("%s --out %s: exists already; name a new directory", command, visible(path))
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s --out %s: %w", command, visible(path), errors.Unwrap(err))
	}
	return nil
}

func baseName(path string) string { return filepath.Base(filepath.Clean(path)) }
