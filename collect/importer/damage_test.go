package importer

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pairbench/collect/importer/result"
)

// damage is one fault of a file: with in place of the first old.
type damage struct{ name, old, with string }

// damages are the faults of each format that are its own; all have those of
// everyDamage too.
var damages = map[string][]damage{
	"csv": {
		{"one quote", "redis_tcp,callback", `redis"_tcp,callback`}, {"quote left open", "redis_tcp,callback", `"redis_tcp,callback`},
		{"NaN", "500000000", "NaN"}, {"Infinity", "42000", "Infinity"}, {"wrong type", "callback,1,", "callback,one,"}, {"unknown column", "cpu_ns", "cpu_fortnights"},
		{"field too many", "7340032", "7340032,1"}, {"field missing", ",7340032", ""},
	},
	"hyperfine": {
		{"one quote", "sleep 0.01", `sleep "0.01`}, {"NaN", `"times": [`, `"times": [NaN,`}, {"Infinity", "0.013147554", "-Infinity"},
		{"wrong type", `"times": [`, `"times": ["0.02",`}, {"number a list", `"times": [`, `"times": [[1],`}, {"command a number", `"sleep 0.01"`, "5"}, {"times an object", `"times": [`, `"times": {`},
	},
	"google-benchmark": {
		{"one quote", `"name": "`, `"name": "a"b`}, {"NaN", `"real_time": `, `"real_time": NaN, "was": `}, {"Infinity", `"cpu_time": `, `"cpu_time": -Infinity, "was": `},
		{"unknown unit", `"time_unit": "ns"`, `"time_unit": "jiffies"`}, {"unknown version", `"context": {`, `"context": {"json_schema_version": 2,`},
		{"wrong type", `"iterations": `, `"iterations": "many", "was": `}, {"half an iteration", `"iterations": `, `"iterations": 0.5, "was": `},
	},
	"pyperf": {
		{"one quote", `"date":"`, `"date":"a"b`}, {"NaN", `"values":[`, `"values":[NaN,`}, {"Infinity", `"values":[`, `"values":[Infinity,`},
		{"unknown unit", `"unit":"second"`, `"unit":"byte"`}, {"unknown version", `"version":"1.0"`, `"version":"3.0"`},
		{"wrong type", `"values":[`, `"values":["fast",`}, {"no loops", `"loops":`, `"loops":0,"was":`},
	},
	"go-bench": {
		{"one quote", "BenchmarkA-2", `BenchmarkA"-2`}, {"NaN", "55.91", "NaN"}, {"Infinity", "55.91", "+Inf"}, {"metric NaN", "3.500", "NaN"},
		{"unknown unit", "ns/op", "jiffies/op"}, {"wrong type", "    2000", "    some"}, {"unit missing", " ns/op", ""},
	},
	"pytest-benchmark": {
		{"one quote", `"node": "`, `"node": "a"b`}, {"NaN", `"data": [`, `"data": [NaN,`}, {"Infinity", `"data": [`, `"data": [Infinity,`},
		{"unknown version", `"version": "`, `"version": "9`}, {"wrong type", `"data": [`, `"data": [true,`}, {"iterations a text", `"iterations": `, `"iterations": "x", "was": `},
	},
	"memtier": {
		{"one quote", `"key_prefix": "`, `"key_prefix": "a"b`}, {"NaN", `"Ops/sec": 445.15`, `"Ops/sec": -nan`}, {"Infinity", `"p50.00": 0.079`, `"p50.00": inf`},
		{"unknown unit", "MILLISECONDS", "JIFFIES"}, {"unknown version", `"Format version": 2`, `"Format version": 4`}, {"wrong type", `"Count": 38`, `"Count": "38"`},
	},
	"redis-benchmark": {
		{"one quote", `"SET"`, `"SE"T"`}, {"quote missing", `"SET"`, `SET"`}, {"NaN", "3058.10", "nan"}, {"Infinity", "0.119", "inf"},
		{"unknown column", "p50_latency_ms", "p51_latency_ms"}, {"header missing", redisHeaderLine, ""}, {"wrong type", "3058.10", "fast"}, {"field missing", `,"33.983"`, ""},
	},
	"wrk": {
		{"one quote", "/a", `/"a`}, {"NaN", "43.64", "-nan"}, {"Infinity", "43.64", "inf"}, {"unknown unit", "45.54ms", "45.54jiffies"},
		{"wrong type", "43.64", "many"}, {"wrk2", "  Latency Distribution", "  Thread calibration: mean lat.: 1us\n  Latency Distribution"},
	},
	"wrk2": {
		{"one quote", "/x", `/"x`}, {"NaN", "39.78", "-nan"}, {"Infinity", "39.78", "inf"}, {"unknown unit", "2.52ms", "2.52jiffies"}, {"wrong type", "39.78", "many"},
	},
	"k6": {
		{"one quote", `"name": ""`, `"name": "a"b"`}, {"NaN", `"med": 46.148224`, `"med": NaN`}, {"Infinity", `"med": 46.148224`, `"med": Infinity`},
		{"unknown unit", `"contains": "time",
   "values": {
    "avg": 44.7`, `"contains": "jiffies",
   "values": {
    "avg": 44.7`}, {"wrong type", `"med": 46.148224`, `"med": "46 ms"`},
	},
	"go-ycsb": {
		{"one quote", "UPDATE,", `UPD"ATE,`}, {"NaN", ",2497", ",NaN"}, {"Infinity", ",2497", ",Infinity"}, {"unknown unit", "latency_us", "latency_jiffies"},
		{"wrong type", ",2497", ",fast"}, {"field missing", ",2497", ""},
	},
}

const redisHeaderLine = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"` + "\n"

var lineNumber = regexp.MustCompile(`(?m)^line \d+: `)

// TestDamageOfEveryFormat holds what each fault of each format comes to: the
// results of the whole file, other results, or an error of one line.
func TestDamageOfEveryFormat(t *testing.T) {
	var report strings.Builder
	for _, f := range Formats() {
		src := original(t, originals[f.Name][0])
		whole := lineNumber.ReplaceAllString(shown(read(t, f.Name, string(src.Data))), "")
		tell := func(name string, data []byte) {
			table, err := read(t, f.Name, string(data))
			got := lineNumber.ReplaceAllString(shown(table, err), "")
			switch {
			case err != nil:
				checkError(t, "file", 0, err)
			case got == whole:
				got = "as the whole file\n"
			default:
				got = changes(whole, got)
			}
			fmt.Fprintf(&report, "%s, %s: %s", f.Name, name, got)
		}
		for i := 1; i < 4; i++ {
			tell(fmt.Sprintf("%d/4 of the file", i), src.Data[:len(src.Data)*i/4])
		}
		tell("no final newline", bytes.TrimRight(src.Data, "\r\n"))
		tell("warning before", append([]byte("WARNING: [x] is {y}\n\n"), src.Data...))
		tell("a line of 70 KB before", append([]byte(strings.Repeat("x", 70_000)+"\n"), src.Data...))
		tell("a line of 2 MB before", append([]byte(strings.Repeat("x", 2<<20)+"\n"), src.Data...))
		tell("Windows' line ends", bytes.ReplaceAll(src.Data, []byte("\n"), []byte("\r\n")))
		tell("byte order mark", append([]byte("\ufeff"), src.Data...))
		for _, d := range damages[f.Name] {
			if !bytes.Contains(src.Data, []byte(d.old)) {
				t.Errorf("%s, %s: %q is not in %s", f.Name, d.name, d.old, src.Name)
			}
			tell(d.name, bytes.Replace(src.Data, []byte(d.old), []byte(d.with), 1))
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(src.Data); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		tell("packed", packed.Bytes())
		tell("half of it, packed", packed.Bytes()[:packed.Len()/2])
	}
	golden(t, "damage", report.String())
}

// changes shows the lines of got that are not in whole, and how many there are.
func changes(whole, got string) string {
	had := map[string]bool{}
	for _, line := range strings.Split(whole, "\n") {
		had[line] = true
	}
	out := fmt.Sprintf("%d lines of %d\n", strings.Count(got, "\n"), strings.Count(whole, "\n"))
	for _, line := range strings.Split(got, "\n") {
		if !had[line] {
			out += fmt.Sprintf("    %.200s\n", line)
		}
	}
	return out
}

// TestTooManyAndTooLong: what would fill memory is refused by name.
func TestTooManyAndTooLong(t *testing.T) {
	many, long := result.MaxObservations+1, strings.Repeat("n", 64<<10+1)
	times := strings.TrimSuffix(strings.Repeat("1,", many), ",")
	for name, c := range map[string]struct{ format, text, want string }{
		"csv rows":          {"csv", "suite,arm,round,measured_operations,elapsed_ns\n" + strings.Repeat("s,a,1,1,1\n", many), "import file:100002: found more than 100000 results, expected fewer"},
		"csv row":           {"csv", "suite,arm,round,measured_operations,elapsed_ns\ns,a,1,1,1\n\"" + strings.Repeat("x\n", 9<<20), "import file:3: found a row of more than 16777216 bytes, expected a shorter one"},
		"hyperfine times":   {"hyperfine", `{"results":[{"command":"x","times":[` + times + `]}]}`, "import file:1: found more than 100000 results, expected fewer"},
		"pytest rounds":     {"pytest-benchmark", `{"version":"5","benchmarks":[{"name":"x","stats":{"iterations":1,"data":[` + times + `]}}]}`, "import file:1: found more than 100000 results, expected fewer"},
		"pyperf values":     {"pyperf", `{"version":"1.0","benchmarks":[{"runs":[{"values":[` + times + `]}]}]}`, "import file:1:200052: values: found more than 100000, expected fewer"},
		"go-bench lines":    {"go-bench", strings.Repeat("BenchmarkX 1 1 ns/op\n", many), "import file:100001: found more than 100000 results, expected fewer"},
		"redis rows":        {"redis-benchmark", strings.Repeat("\"X\",\"1\"\n", many), "import file:100001: found more than 100000 results, expected fewer"},
		"memtier runs":      {"memtier", `{"ALL STATS":{"x":{"Ops/sec":1}` + strings.Repeat(`,"x":{"Ops/sec":1}`, many) + `}}`, "import file:1: found more than 100000 results, expected fewer"},
		"ycsb kinds":        {"go-ycsb", ycsbHeader + "\n" + numbered(101, "op%d,1,1\n"), "import file:102: found more than 100 kinds of operations, expected fewer"},
		"hyperfine factors": {"hyperfine", `{"results":[{"command":"x","times":[1],"parameters":{"p":1` + numbered(101, `,"p%d":1`) + `}}]}`, "parameters: found more than 100, expected fewer"},
		"long command":      {"hyperfine", `{"results":[{"command":"` + long + `","times":[1]}]}`, "import file:1:24: command: found a text of 65539 bytes, expected at most 65536"},
		"long name":         {"google-benchmark", `{"benchmarks":[{"name":"` + long + `","iterations":1}]}`, "import file:1:24: name: found a text of 65539 bytes, expected at most 65536"},
		"names together":    {"hyperfine", `{"results":[{"command":"` + long[:60<<10] + `","times":[` + times[:2*5000-1] + `]}]}`, "found names of more than 67108864 bytes together, expected shorter ones"},
		"long line":         {"wrk", "Running 1s test @ http://h/\n" + strings.Repeat("x", 1<<20+1), "import file:2: found a line of more than 1048576 bytes, expected a shorter one"},
	} {
		if _, err := read(t, c.format, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	table, err := read(t, "go-bench", strings.Repeat("--- FAIL: X\n", 5000)+"BenchmarkX 1 1 ns/op\n")
	if err != nil || len(table.Warnings) != 1001 || table.Warnings[1000] != "further warnings are left out" {
		t.Errorf("%d warnings, %v", len(table.Warnings), err)
	}
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
