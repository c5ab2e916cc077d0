package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"pairbench/records/atomicfile"
)

func (r row) line() string {
	return fmt.Sprintf("%-66s %14s %14s  %s  (%s)", r.what, number(median(r.ours), r.unit), r.theirs(), r.ratios(), r.reach)
}

func (r row) theirs() string {
	if r.against == nil {
		return "—"
	}
	return number(median(r.against), r.unit)
}

func (r row) ratios() string {
	if r.against == nil {
		return "—"
	}
	return fmt.Sprintf("%.2f [%.2f–%.2f]", r.ratio, r.low, r.top)
}

// number writes a figure with three or four digits that matter.
func number(v float64, unit string) string {
	var text string
	if unit == "s" && v < 1 {
		v, unit = v*1e3, "ms"
	}
	switch {
	case v >= 1e6:
		text = fmt.Sprintf("%.1f M", v/1e6)
	case v >= 1e4:
		text = fmt.Sprintf("%.1f k", v/1e3)
	case v >= 100:
		text = fmt.Sprintf("%.0f", v)
	case v >= 10:
		text = fmt.Sprintf("%.1f", v)
	default:
		text = fmt.Sprintf("%.2f", v)
	}
	return strings.TrimSpace(text + " " + unit)
}

func (b *bench) print(w io.Writer) {
	fmt.Fprintf(w, "| what | ours | against | ratio, median [min–max] | reach | our command | their command |\n|---|--:|--:|--:|---|---|---|\n")
	cell := func(text string) string {
		if text == "" {
			return "—"
		}
		return "`" + strings.ReplaceAll(strings.ReplaceAll(text, b.dir, "$DIR"), "|", "\\|") + "`"
	}
	for _, r := range b.rows {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n",
			r.what, number(median(r.ours), r.unit), r.theirs(), r.ratios(), r.reach, cell(r.oursCommand), cell(r.againstCommand))
	}
	for _, err := range b.failed {
		fmt.Fprintf(w, "\nNot measured: %s.\n", strings.ReplaceAll(err.Error(), b.dir, "$DIR"))
	}
}

// notesMark divides the part of the file that is rewritten from the part that
// people write.
const notesMark = "<!-- notes: kept by make bench -->"

// write rewrites the table in a Markdown file and keeps the notes under it.
func (b *bench) write(path string) error {
	notes := notesMark + "\n"
	if old, err := os.ReadFile(path); err == nil {
		if _, kept, found := strings.Cut(string(old), notesMark); found {
			notes = notesMark + kept
		}
	}
	return atomicfile.Write(atomicfile.OS{}, path, 0o644, func(dst io.Writer) error {
		w := bufio.NewWriter(dst)
		fmt.Fprintf(w, `# Benchmarks

The last table that `+"`make bench UPDATE=1`"+` printed. Every row is a ratio of medians
over %d alternating runs (A B A B) of fresh processes on one machine in one go,
pinned to one processor unless the row says otherwise, each run under a time
limit. A ratio above 1 means that ours is better; in brackets stand the lowest and the
highest ratio of a round. No figure here is a test.

%s

`, b.rounds, machine())
		b.print(w)
		fmt.Fprintf(w, "\n%s", notes)
		return w.Flush()
	})
}

func machine() string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	say := func(argv ...string) string {
		out, err := exec.Command(argv[0], argv[1:]...).Output()
		if err != nil {
			return "unknown"
		}
		return strings.TrimSpace(strings.SplitN(string(out), "\n", 2)[0])
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Join(strings.Fields(string(text))[:3], " ")
	}
	kernel, _, _ := strings.Cut(say("uname", "-sr"), "-")
	return fmt.Sprintf("Machine: %s, %d processors, %s; %s; load average at the end %s. Date: %s.\nPeers: %s; %s; DuckDB %s; MariaDB client library %s.",
		model, runtime.NumCPU(), kernel, runtime.Version(), load, time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		say("redis-benchmark", "--version"), say("g++", "--version"),
		say(".venv/bin/python", "-c", "import duckdb; print(duckdb.__version__)"), say("pkg-config", "--modversion", "libmariadb"))
}
