package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func (b *bench) python(args ...string) []string {
	return append([]string{filepath.Join(b.root, ".venv/bin/python"), filepath.Join(b.root, "cmd/bench/peer/duckdb_side.py")}, args...)
}

// measureParquet measures writing samples, selecting percentiles and merging,
// beside DuckDB.
func measureParquet(ctx context.Context, b *bench) error {
	dir := b.file("samples")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	one, both := []int{b.cpu}, []int{0, 1}
	ours := func(cpus []int, args ...string) side {
		return b.program(program{argv: append([]string{b.self}, args...), cpus: cpus, parse: object})
	}
	duck := func(cpus []int, args ...string) side {
		return b.program(program{argv: b.python(args...), cpus: cpus, parse: object})
	}
	write := ours(one, "write", dir)
	if _, err := write.run(ctx); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		return err
	}
	merged, copied, best, native := b.file("merged.parquet"), b.file("copied.parquet"), b.file("best.parquet"), b.file("best.duckdb")
	for _, name := range []string{merged, copied, best, native} {
		defer os.Remove(name)
	}
	merge, copyAll := ours(one, append([]string{"merge", merged}, files...)...), duck(one, append([]string{"merge", "1", copied}, files...)...)
	merge.command, copyAll.command = strings.ReplaceAll(merge.command, strings.Join(files, " "), dir+"/*.parquet"), strings.ReplaceAll(copyAll.command, strings.Join(files, " "), dir+"/*.parquet")
	if _, err := merge.run(ctx); err != nil {
		return err
	}
	if _, err := duck(nil, "layout", "2", merged, best, native).run(ctx); err != nil {
		return err
	}

	err = b.pair(ctx, write, duck(one, "copy", "1", merged, copied), nil,
		figure{what: "write samples, rows a CPU second", key: "rate", unit: "rows/s", reach: "≥ 2.5"},
		figure{what: "write samples, bytes a sample", key: "bytes", unit: "B", less: true, reach: "≥ 1; ≤ 4.9 B"})
	if err != nil {
		return err
	}
	err = b.pair(ctx, write, side{}, nil,
		figure{what: "write samples, peak RSS of the process", key: "peak_mib", unit: "MiB", reach: "≤ 20 MB"})
	if err != nil {
		return err
	}
	if err := b.pair(ctx, merge, copyAll, nil,
		figure{what: fmt.Sprintf("compact: merge %d sample files, wall", len(files)), key: "in_wall_s", unit: "s", less: true, reach: "≥ 12"}); err != nil {
		return err
	}
	for _, c := range []struct {
		verified string
		args     []string
		same     string
		best     string
	}{{"", nil, "≥ 6", "≥ 4"}, {", SHA-256 verified first", []string{"--sha256"}, "≥ 3.5", "≥ 2.5"}} {
		mine := ours(one, append(append([]string{"percentiles"}, c.args...), merged)...)
		figures := []figure{{what: "percentiles on one core, CPU, same file" + c.verified, key: "in_cpu_s", unit: "s", less: true, reach: c.same}}
		if c.verified == "" {
			figures = append(figures, figure{what: "percentiles on one core, peak RSS", key: "peak_mib", unit: "MiB", less: true, reach: "≥ 10"})
		}
		if err := b.pair(ctx, mine, duck(one, "quantiles", "1", merged), []string{"sum"}, figures...); err != nil {
			return err
		}
		err := b.pair(ctx, mine, duck(one, "quantiles", "1", best), []string{"sum"},
			figure{what: "… against two plain columns in Parquet" + c.verified, key: "in_cpu_s", unit: "s", less: true, reach: c.best})
		if err != nil {
			return err
		}
		err = b.pair(ctx, mine, duck(one, "native", "1", native), []string{"sum"},
			figure{what: "… against DuckDB's own database file" + c.verified, key: "in_cpu_s", unit: "s", less: true, reach: c.best})
		if err != nil {
			return err
		}
	}
	return b.pair(ctx, ours(both, "percentiles", "-threads", "2", merged), duck(both, "quantiles", "2", merged), []string{"sum"},
		figure{what: "percentiles on two cores, wall, same file", key: "in_wall_s", unit: "s", less: true, reach: "≥ 6"})
}

// measureBundle measures verify beside sha256sum.
func measureBundle(ctx context.Context, b *bench) error {
	dir := b.file("bundle")
	defer os.RemoveAll(dir)
	if _, err := b.program(program{argv: []string{b.self, "generate", "-processes", "96", "-samples", "1000000", dir}}).run(ctx); err != nil {
		return err
	}
	verify := []string{b.bin("pairbench"), "verify", dir}
	sum := []string{"sh", "-c", "cd " + dir + " && sha256sum --quiet -c manifest-sha256.txt"}
	err := b.pair(ctx, b.program(program{argv: verify, cpus: []int{b.cpu}}), b.program(program{argv: sum, cpus: []int{b.cpu}}), nil,
		figure{what: "verify a bundle of 96 M samples, one core, CPU", key: "cpu_s", unit: "s", less: true, reach: "≥ 1"})
	if err != nil {
		return err
	}
	return b.pair(ctx, b.program(program{argv: verify, cpus: []int{0, 1}}), b.program(program{argv: sum, cpus: []int{0, 1}}), nil,
		figure{what: "verify the same, two cores, wall", key: "wall_s", unit: "s", less: true, reach: "> 1"})
}

// billion analyzes a bundle of a billion samples and the tenth of it.
func billion(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("billion", flag.ContinueOnError)
	processes := flags.Int("processes", 5000, "processes of the bundle")
	samples := flags.Int("samples", 200_000, "samples of a process")
	parent := flags.String("dir", "", "where some 5 GB can be generated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b, err := newBench(1, *parent)
	if err != nil {
		return err
	}
	defer b.close()
	for _, n := range []int{*processes / 10, *processes} {
		dir, out := b.file("bundle"), b.file("analysis")
		_, _, err := b.execute(ctx, program{argv: []string{b.self, "generate", "-processes", strconv.Itoa(n), "-samples", strconv.Itoa(*samples), dir}, limit: 2 * time.Hour})
		if err != nil {
			return err
		}
		got, _, err := b.execute(ctx, program{argv: []string{b.bin("pairbench"), "analyze", "--out", out, dir}, limit: time.Hour})
		if err != nil {
			return err
		}
		total := float64(n) * float64(*samples)
		fmt.Printf("analyze %s samples of %d processes: wall %.1f s, CPU %.1f s, %.1f ns CPU a sample, peak RSS %.0f MiB (reach: 256 MiB, linear)\n",
			number(total, ""), n, got["wall_s"], got["cpu_s"], got["cpu_s"]/total*1e9, got["peak_mib"])
		os.RemoveAll(dir)
		os.RemoveAll(out)
	}
	return nil
}
