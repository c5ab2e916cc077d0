package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"pairbench/collect"
	"pairbench/records/bundle"
)

func collectCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "collect",
		Usage:     "run every process of a plan and leave a sealed bundle",
		ArgsUsage: "PLAN",
		Flags: append(selectionFlags(),
			&cli.StringFlag{Name: "out", Usage: "the bundle's `DIR`; it must not exist"},
			&cli.BoolFlag{Name: "resume", Usage: "go on with an unfinished bundle"},
			&cli.BoolFlag{Name: "aa", Usage: "run the same binary under both labels"},
		),
		Action: func(c *cli.Context) error {
			args, err := words(c, "PLAN")
			if err != nil {
				return err
			}
			out := c.String("out")
			if out == "" {
				if c.Bool("resume") {
					return usagef("collect --resume: --out is missing: name the bundle to go on with")
				}
				out = filepath.Join(newResultDir(args[0], time.Now()), "bundle")
			}
			result, err := collectPlan(c, s, args[0], out)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(s.out, result.Dir); err != nil {
				return err
			}
			return failedProcesses("collect", result)
		},
	}
}

// collectPlan collects the plan under a command's flags, with progress on
// stderr.
func collectPlan(c *cli.Context, s streams, word, out string) (collect.Result, error) {
	sel, err := selection(c)
	if err != nil {
		return collect.Result{}, err
	}
	p, err := wholePlan(word)
	if err != nil {
		return collect.Result{}, err
	}
	if err := p.Runnable(visible(word)); err != nil {
		return collect.Result{}, err
	}
	if c.Bool("resume") && !isThere(out) && !isThere(filepath.Clean(out)+bundle.PartialSuffix) {
		return collect.Result{}, usagef("collect --resume --out %s: there is no unfinished bundle of that name", visible(out))
	}
	if _, err := os.Lstat(out); err == nil && c.Bool("resume") {
		return collect.Result{}, usagef("collect --resume --out %s: is complete already; there is nothing to go on with", visible(out))
	}
	if err := refuseExisting(c.Command.Name+" --out", out); err != nil {
		return collect.Result{}, err
	}
	removeEmpty, err := makeParent(out)
	if err != nil {
		return collect.Result{}, fmt.Errorf("%s --out %s: %w", c.Command.Name, visible(out), err)
	}
	line := newProgress(s.err)
	result, err := collect.Run(c.Context, collect.Options{
		Plan: p, Selection: sel, Out: out, Resume: c.Bool("resume"), AA: c.Bool("aa"), ToolVersion: version,
		Progress: line.show, Warn: line.warn,
	})
	line.end()
	if err != nil {
		removeEmpty()
	}
	var interrupted *collect.InterruptedError
	switch {
	case errors.As(err, &interrupted) && interrupted.Dir != "":
		return result, fmt.Errorf("%w with %d of %d processes finished; pairbench collect --resume --out %s with the same plan and selection goes on",
			errInterrupted, interrupted.Done, interrupted.Total, visible(out))
	case interrupted != nil, errors.Is(err, context.Canceled):
		return result, fmt.Errorf("%w before the first process", errInterrupted)
	}
	return result, err
}

// failedProcesses turns failures that a collection recorded into its exit code;
// the bundle is whole all the same.
func failedProcesses(command string, r collect.Result) error {
	if len(r.Failed) == 0 {
		return nil
	}
	first := r.Failed[0]
	return outcomeError{exitFailedData, fmt.Sprintf("%s: %d of %d processes failed and enter no median; the first is %s: %s: %s",
		command, len(r.Failed), r.Run.Processes, visible(first.ProcessID), first.Outcome, visible(first.Detail))}
}
