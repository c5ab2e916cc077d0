package main

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostileBytes is the size of each file that is refused.
const hostileBytes = 120 << 20

// TestHostileFilesAreRefusedInBoundedTimeAndMemory imports files of 120 MB that
// are made to fill memory or to take for ever: the answer is one line, exit code
// 3, at most boundRSS and boundTime, and nothing is left.
func TestHostileFilesAreRefusedInBoundedTimeAndMemory(t *testing.T) {
	const command = `{"results":[{"command":"`
	for _, h := range []struct{ name, format, head, piece, tail string }{
		{"nested lists", "hyperfine", `{"results":`, "[", ""},
		{"nested objects", "google-benchmark", "", "{\n", ""},
		{"one giant text", "hyperfine", command, "x", `","times":[1]}]}`},
		{"one giant text of escapes", "k6", `{"metrics":{"http_reqs":{"count":1}},"a":"`, `\u0041`, `"`},
		{"one giant name", "memtier", `{"`, "x", `":1`},
		{"quotes that end nothing", "pyperf", `{"version":"`, `" `, `x"}`},
		{"times", "hyperfine", `{"results":[{"command":"x","times":[`, "1,", "1]}]}"},
		{"numbers of many digits", "pyperf", `{"version":"1.0","benchmarks":[{"runs":[{"values":[`, strings.Repeat("7", 390) + "e-399,", "1]}]}]}"},
		{"empty objects", "google-benchmark", `{"benchmarks":[`, "{},", "{}]}"},
		{"members", "k6", `{"metrics":{`, `"http":{},`, `"x":{}}}`},
		{"passwords", "pytest-benchmark", `{"version":"`, "token=a ", `"}`},
		{"one line", "go-bench", "BenchmarkX 1 1 ns/op ", "1 a ", "\n"},
		{"lines", "go-bench", "", "BenchmarkX 1 1 ns/op\n", ""},
		{"failures", "go-bench", "", "--- FAIL: BenchmarkX\n", ""},
		{"empty lines", "wrk", "", "\n", ""},
		{"reports", "wrk", "", "Running 1s test @ http://h/\n  4 requests in 1.00s, 5KB read\nRequests/sec: 4\n", ""},
		{"rows", "redis-benchmark", "", "\"X\",\"1\"\n", ""},
		{"commas", "redis-benchmark", `"`, `","`, "\"\n"},
		{"columns", "csv", "suite", ",a", "\n"},
		{"rows of a table", "csv", "suite,arm,round,measured_operations,elapsed_ns\n", "s,a,1,1,1\n", ""},
		{"one field", "csv", "suite,arm,round,measured_operations,elapsed_ns\n\"", strings.Repeat("x", 1000) + "\n", "\",a,1,1,1\n"},
		{"kinds", "go-ycsb", "operation,timestamp_us,latency_us\n", "A,1,1\n", "B,x,1\n"},
	} {
		t.Run(h.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "hostile")
			writeRepeated(t, file, h.head, h.piece, h.tail)
			args := []string{"import", "--format", h.format, "--out", filepath.Join(dir, "b"), "--a", file, "--b", file}
			if h.format == "csv" {
				args = append(args[:5], file)
			}
			bounded(t, exitIntegrity, args...)
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("left %v (%v)", entries, err)
			}
		})
	}
	t.Run("packed", func(t *testing.T) {
		dir := t.TempDir()
		file := filepath.Join(dir, "bomb.json.gz")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		w, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
		piece := []byte(strings.Repeat(" ", 1<<20))
		for range 1 << 10 {
			if _, err := w.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if w.Close() != nil || f.Close() != nil {
			t.Fatal("the file was not written")
		}
		bounded(t, exitIntegrity, "import", "--format", "pyperf", "--out", filepath.Join(dir, "b"), "--a", file, "--b", file)
	})
}

// writeRepeated writes pieces between a head and a tail.
func writeRepeated(t *testing.T, path, head, piece, tail string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	_, err = w.WriteString(head)
	block := strings.Repeat(piece, 1+(64<<10)/len(piece))
	for n := 0; n < hostileBytes && err == nil; n += len(block) {
		_, err = w.WriteString(block)
	}
	if err == nil {
		_, err = w.WriteString(tail)
	}
	if err != nil || w.Flush() != nil || f.Close() != nil {
		t.Fatalf("%s was not written: %v", path, err)
	}
}
