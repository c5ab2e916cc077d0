package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// streams are where a command writes: its result to out, progress, warnings and
// errors to err.
type streams struct {
	out io.Writer
	err io.Writer
}

// keptWriter keeps the first error of its writer.
type keptWriter struct {
	w   io.Writer
	err error
}

func (k *keptWriter) Write(p []byte) (int, error) {
	n, err := k.w.Write(p)
	if k.err == nil {
		k.err = err
	}
	return n, err
}

// run executes one command line and returns the exit code. args[0] is the
// program's name.
func run(ctx context.Context, args []string, s streams) int {
	out := &keptWriter{w: s.out}
	s.out = out
	app := newApp(s)
	err := app.RunContext(ctx, inOrder(app, args))
	if err != nil && ctx.Err() != nil && !errors.Is(err, errInterrupted) {
		err = fmt.Errorf("%w: %w", errInterrupted, err)
	}
	if err == nil {
		err = out.err // the library drops it where it prints help
	}
	code := exitCode(err)
	if err != nil && err.Error() != "" {
		fmt.Fprintf(s.err, "pairbench: %v\n", err)
	}
	return code
}

func newApp(s streams) *cli.App {
	app := &cli.App{
		Name:            "pairbench",
		Usage:           "paired benchmarks with evidence: what changes when arm B replaces arm A?",
		Version:         version,
		Writer:          s.out,
		ErrWriter:       s.err,
		HideHelpCommand: true,
		// The library would end the process inside Run and print errors itself.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   asUsage,
		CommandNotFound: func(c *cli.Context, name string) {
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("unknown command %q; see pairbench --help", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			runCommand(s), planCommand(s), plansCommand(s), collectCommand(s), verifyCommand(s),
			analyzeCommand(s), renderCommand(s), importCommand(s), exportCommand(s), compactCommand(s), gateCommand(s),
			doctorCommand(s), schemaCommand(s), notebookCommand(s), historyCommand(s),
		},
	}
	for _, c := range app.Commands {
		c.OnUsageError = asUsage
		c.HideHelpCommand = true
		c.CustomHelpTemplate = commandHelp(app, c)
	}
	app.CustomAppHelpTemplate = appHelp(app)
	return app
}

// asUsage words the library's complaint about flags as ours are.
func asUsage(c *cli.Context, err error, _ bool) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	switch {
	case unknown && c.Command != nil && c.Command.Name != "" && c.Command.Name != c.App.Name:
		return usagef("%s: unknown flag --%s; see pairbench %[1]s --help", c.Command.Name, name)
	case unknown:
		return usagef("unknown flag --%s; see pairbench --help", name)
	}
	return usageError{err}
}
