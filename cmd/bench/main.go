package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		if side, ok := sides[args[0]]; ok {
			return side(args[1:])
		}
		if args[0] == "billion" {
			return billion(ctx, args[1:])
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "times that each side of a row runs")
	only := flags.String("only", "", "measure only the groups whose name matches")
	update := flags.String("update", "", "write the table to this Markdown file as well")
	dir := flags.String("dir", "", "directory for what is generated (default: a temporary one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	b, err := newBench(*rounds, *dir)
	if err != nil {
		return err
	}
	defer b.close()
	for _, g := range groups {
		if !wanted.MatchString(g.name) {
			continue
		}
		if err := g.measure(ctx, b); err != nil {
			b.failed = append(b.failed, fmt.Errorf("%s: %w", g.name, err))
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", g.name, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	b.print(os.Stdout)
	if *update != "" {
		if err := b.write(*update); err != nil {
			return err
		}
	}
	return errors.Join(b.failed...)
}

// groups are the rows in the order of the table, by what they share.
var groups = []struct {
	name    string
	measure func(context.Context, *bench) error
}{
	{"parquet", measureParquet},
	{"bundle", measureBundle},
	{"record", measureRecord},
	{"redis", measureRedis},
	{"mysql", measureMySQL},
	{"tcp", measureTCP},
	{"command", measureCommand},
	{"study", measureStudy},
}

// bench is one run of the table.
type bench struct {
	rounds int
	dir    string
	own    bool // dir is removed at the end
	self   string
	root   string
	cpu    int
	env    []string
	rows   []row
	failed []error
	files  int
}

func newBench(rounds int, dir string) (*bench, error) {
	b := &bench{rounds: rounds, dir: dir}
	var err error
	if b.root, err = os.Getwd(); err != nil {
		return nil, err
	}
	for _, needed := range []string{"bin/pairbench", "bin/pbdriver", "bin/asio_standalone", "cmd/bench"} {
		if _, err := os.Stat(needed); err != nil {
			return nil, fmt.Errorf("%w: make bench runs this from the top of the tree, after make build asio", err)
		}
	}
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if dir == "" {
		b.own = true
		b.dir, err = os.MkdirTemp("", "pairbench-bench-")
	} else {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	b.env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin", "HOME=" + b.dir, "LC_ALL=C"}
	return b, nil
}

func (b *bench) close() {
	if b.own {
		os.RemoveAll(b.dir)
	}
}

// file is a path under the bench's directory that nothing uses yet.
func (b *bench) file(name string) string {
	b.files++
	return filepath.Join(b.dir, fmt.Sprintf("%03d-%s", b.files, name))
}

func (b *bench) bin(name string) string { return filepath.Join(b.root, "bin", name) }
