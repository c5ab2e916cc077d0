package importer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/collect/importer/result"
)

// ycsbHeader begins the raw requests of go-ycsb.
const ycsbHeader = "operation,timestamp_us,latency_us"

// originals are files that the tools themselves wrote, with machine's paths
// taken out, by format. A file of redis-benchmark 6.0 is written by hand.
var originals = map[string][]string{
	"csv":              {"csv.csv"},
	"hyperfine":        {"hyperfine-a.json", "hyperfine-b.json", "hyperfine-once.json", "hyperfine-failed.json"},
	"google-benchmark": {"google-benchmark-a.json", "google-benchmark-b.json", "google-benchmark-aggregates.json"},
	"pyperf":           {"pyperf-a.json", "pyperf-b.json.gz", "pyperf-calibrated.json"},
	"go-bench":         {"go-bench-a.txt", "go-bench-b.txt", "go-bench-verbose.txt"},
	"pytest-benchmark": {"pytest-benchmark-a.json", "pytest-benchmark-b.json", "pytest-benchmark-aggregates.json"},
	"memtier":          {"memtier-a.json", "memtier-b.json", "memtier-sets.json", "memtier-best.json"},
	"redis-benchmark":  {"redis-benchmark-a.csv", "redis-benchmark-b.csv", "redis-benchmark-6.0.csv", "redis-benchmark-quotes.csv"},
	"wrk":              {"wrk-a.txt", "wrk-b.txt", "wrk-no-latency.txt"},
	"wrk2":             {"wrk2-a.txt", "wrk2-b.txt"},
	"k6":               {"k6-a.json", "k6-b.json", "k6-export.json"},
	"go-ycsb":          {"go-ycsb-a.csv", "go-ycsb-b.csv"},
}

func original(t testing.TB, name string) result.Source {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return result.Source{Name: name, Data: data}
}

func format(t testing.TB, name string) Format {
	t.Helper()
	f, ok := ByName(name)
	if !ok {
		t.Fatalf("no format %s", name)
	}
	return f
}

func read(t testing.TB, formatName, text string) (result.Table, error) {
	t.Helper()
	table, _, err := format(t, formatName).Read(result.Source{Name: "file", Data: []byte(text)}, "")
	return table, err
}

// shown writes what was read of a file, absent values left out.
func shown(t result.Table, err error) string {
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var b strings.Builder
	for _, o := range t.Observations {
		p := o.Process
		fmt.Fprintf(&b, "line %d: %s", o.Line, o.Suite)
		for _, f := range o.Factors {
			fmt.Fprintf(&b, " %s=%q(%s)", f.Name, f.Value.String(), f.Value.Kind)
		}
		fmt.Fprintf(&b, " %s", p.Outcome)
		if p.OutcomeDetail != nil {
			fmt.Fprintf(&b, " (%s)", *p.OutcomeDetail)
		}
		if p.Round != 0 {
			fmt.Fprintf(&b, " arm=%s round=%d", p.Arm, p.Round)
		}
		for _, v := range []struct {
			name  string
			value *int64
		}{
			{"operations", p.MeasuredOperations}, {"errors", p.Errors}, {"elapsed_ns", p.ElapsedNs},
			{"stated_throughput_micro_per_sec", p.StatedThroughputMicroPerSec},
			{"cpu_ns", p.CPUNs}, {"user_ns", p.CPUUserNs}, {"system_ns", p.CPUSystemNs},
			{"p50_ns", p.StatedLatencyP50Ns}, {"p99_ns", p.StatedLatencyP99Ns}, {"peak_rss_bytes", p.PeakRSSBytes},
		} {
			if v.value != nil {
				fmt.Fprintf(&b, " %s=%d", v.name, *v.value)
			}
		}
		if p.ExitCode != nil {
			fmt.Fprintf(&b, " exit=%d", *p.ExitCode)
		}
		if p.StartedUnixNs != nil {
			fmt.Fprintf(&b, " started=%d", *p.StartedUnixNs)
		}
		if o.Samples != nil {
			fmt.Fprintf(&b, " samples=%v+%v", o.Samples.StartNs, o.Samples.LatencyNs)
		}
		b.WriteByte('\n')
	}
	for _, w := range t.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestFilesOfEveryTool(t *testing.T) {
	for _, f := range Formats() {
		if len(originals[f.Name]) == 0 {
			t.Errorf("no original of %s", f.Name)
		}
		for _, name := range originals[f.Name] {
			table, _, err := f.Read(original(t, name), "")
			golden(t, name, shown(table, err))
		}
	}
}

// TestTruncatedFiles cuts every original after every byte, and large ones after
// some: what is left is an error of one line that names the file,
// or holds no more than the whole.
func TestTruncatedFiles(t *testing.T) {
	for _, f := range Formats() {
		for _, name := range originals[f.Name] {
			src := original(t, name)
			whole, _, _ := f.Read(src, "")
			for n := 0; n < len(src.Data); n += 1 + len(src.Data)/1200 {
				part := result.Source{Name: name, Data: src.Data[:n]}
				table, _, err := f.Read(part, "")
				if err != nil {
					checkError(t, name, n, err)
				} else if len(table.Observations) > len(whole.Observations) && len(whole.Observations) > 0 {
					t.Errorf("%s cut after %d bytes: %d results, the whole has %d", name, n, len(table.Observations), len(whole.Observations))
				}
			}
		}
	}
}

func checkError(t *testing.T, name string, at int, err error) {
	t.Helper()
	var bad *result.Error
	if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "import "+strings.TrimSuffix(name, ".gz")) || strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("%s at %d: error %q, want one line that names the file", name, at, err)
	}
}

// TestChangedBytes overwrites parts of every original.
func TestChangedBytes(t *testing.T) {
	for _, f := range Formats() {
		for _, name := range originals[f.Name] {
			src := original(t, name)
			for _, with := range []string{"\x00", "\xff", `"`, "{", "}", "-", "9999999999", "1e999999999", "\n"} {
				for at := 0; at < len(src.Data); at += 1 + len(src.Data)/17 {
					data := append([]byte{}, src.Data[:at]...)
					data = append(append(data, with...), src.Data[at+1:]...)
					if _, _, err := f.Read(result.Source{Name: name, Data: data}, ""); err != nil {
						checkError(t, name, at, err)
					}
				}
			}
		}
	}
}

// TestUnusualFiles are faults of single lines, and what tools really do.
func TestUnusualFiles(t *testing.T) {
	const context = `{"context": {}, "benchmarks": [`
	for name, c := range map[string]struct{ format, text, want string }{
		"no file":               {"hyperfine", "", `import file:1:1: found no line that begins with '{', expected a JSON object`},
		"not UTF-8":             {"k6", "{\n\"a\": \"\xe9\"}", `import file:2:7: found the byte 0xe9, expected UTF-8 text`},
		"deep":                  {"pyperf", strings.Repeat(`{"a":`, 300), `import file:1:1006: found more than 200 levels of nesting, expected fewer`},
		"huge number":           {"hyperfine", `{"results":[{"command":"x","times":[1e99999]}]}`, `import file:1:37: times: found "1e99999", expected an exponent of at most 400`},
		"more than 63 bits":     {"hyperfine", `{"results":[{"command":"x","times":[1e20]}]}`, `import file:1:37: times: found a number of more than 63 bits, expected less`},
		"below zero":            {"hyperfine", `{"results":[{"command":"x","times":[-1]}]}`, `import file:1:37: times: found a number below zero, expected 0 or more`},
		"text for number":       {"hyperfine", `{"results":[{"command":"x","times":["1"]}]}`, `import file:1:37: times: found a text, expected a number`},
		"aggregates only":       {"hyperfine", `{"results":[{"command":"x","mean":1}]}`, `import file:1:13: times: found nothing, expected a list`},
		"unknown unit of time":  {"google-benchmark", context + `{"name":"x","iterations":1,"real_time":1,"time_unit":"fortnights"}]}`, `import file:1:85: time_unit: found "fortnights", expected ns, us, ms or s`},
		"unknown run type":      {"google-benchmark", context + `{"name":"x","run_type":"guess"}]}`, `import file:1:55: run_type: found "guess", expected iteration or aggregate`},
		"unknown schema":        {"google-benchmark", `{"context": {"json_schema_version": 7}, "benchmarks": []}`, `import file:1:37: json_schema_version: found "7", expected 1`},
		"unknown version":       {"pyperf", `{"version":"2.0"}`, `import file:1:12: version: found ` + "`\"2.0\"`, expected 1.0"},
		"unit of bytes":         {"pyperf", `{"version":"1.0","metadata":{"unit":"byte","name":"x"},"benchmarks":[{"runs":[{"values":[1]}]}]}`, `import file:1:37: unit: found "byte", expected second`},
		"future pytest":         {"pytest-benchmark", `{"version":"9.1.0","benchmarks":[]}`, `import file:1:12: version: found ` + "`\"9.1.0\"`, expected 3, 4 or 5"},
		"memtier format":        {"memtier", `{"run information":{"Format version":3}}`, `import file:1:38: Format version: found "3", expected 2`},
		"memtier unit":          {"memtier", `{"ALL STATS":{"Runtime":{"Time unit":"FORTNIGHTS"}}}`, `import file:1:38: Time unit: found "FORTNIGHTS", expected MILLISECONDS`},
		"k6 without metrics":    {"k6", `{"root_group":{}}`, `import file:1:1: metrics: found nothing, expected an object`},
		"k6 trend of bytes":     {"k6", `{"metrics":{"http_reqs":{"count":1},"http_req_duration":{"contains":"data","values":{}}}}`, `import file:1:69: contains: found "data", expected time`},
		"go without ns/op":      {"go-bench", "BenchmarkX-8 10 5 parsecs/op\n", `import file:1: found the units "parsecs/op", expected ns/op`},
		"go odd fields":         {"go-bench", "BenchmarkX-8 10 5 ns/op 3\n", `import file:1: found "3" at the end, expected pairs of a value and its unit`},
		"redis header":          {"redis-benchmark", `"test","rps","p51_latency_ms"`, `import file:1: header: found ` + "`\"test\",\"rps\",\"p51_latency_ms\"`" + `, expected "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"`},
		"redis rate":            {"redis-benchmark", `"SET","fast"`, `import file:1: rps: found "fast", expected a number`},
		"wrk unit":              {"wrk", "Running 1s test @ http://h/\n  44 requests in 1.00fortnight, 5KB read\n", `import file:2: unit of time: found "fortnight", expected us, ms, s, m or h`},
		"wrk cut":               {"wrk", "Running 1s test @ http://h/\n  1 threads and 2 connections\n", `import file:2: found the end of the file inside a report, expected Requests/sec`},
		"wrk2 read as wrk":      {"wrk", "Running 1s test @ http://h/\n  Thread calibration: mean lat.: 1.000ms, rate sampling interval: 10ms\n", `import file:2: found a line of wrk2, expected wrk; use the format wrk2`},
		"ycsb without header":   {"go-ycsb", "READ,1,2\n", `import file: found no line "operation,timestamp_us,latency_us", expected the raw requests of go-ycsb`},
		"ycsb time of nowhere":  {"go-ycsb", ycsbHeader + "\nREAD,99999999999999999,2\n", `import file:2: timestamp_us: found 99999999999999999, expected at most 9007199254740992`},
		"ycsb latency below 0":  {"go-ycsb", ycsbHeader + "\nREAD,1,-2\n", `import file:2: latency_us: "-2": found a number below zero, expected 0 or more`},
		"nothing but secrets":   {"wrk", strings.Repeat("token=x ", maxSecrets+2), `import file: found more than 100000 secrets, expected the results of a benchmark`},
		"gzip of nothing":       {"pyperf", "\x1f\x8b", `import file: gzip: unexpected EOF`},
		"csv without arm":       {"csv", "suite,round,measured_operations,elapsed_ns\n", `import file:1: header: column arm is missing; required are suite, arm, round, measured_operations, elapsed_ns`},
		"csv below zero":        {"csv", "suite,arm,round,measured_operations,elapsed_ns\ns,a,1,-1,5\n", `import file:2:7: measured_operations: found -1, expected 0 or more; leave the field empty where nothing was measured`},
		"csv huge":              {"csv", "suite,arm,round,measured_operations,elapsed_ns\ns,a,1,99999999999999999999,5\n", `import file:2:7: measured_operations: found "99999999999999999999", expected a number of at most 63 bits`},
		"warnings before JSON":  {"google-benchmark", "***WARNING*** Library was built as DEBUG\nRun on (2 X 2445 MHz CPU s)\n" + context + `{"name":"x","iterations":2,"real_time":1.25,"time_unit":"us"}]}`, "line 3: google_benchmark benchmark=\"x\"(string) ok operations=2 elapsed_ns=2500\n"},
		"bare words":            {"google-benchmark", context + `{"name":"x","iterations":2,"real_time":NaN,"cpu_time":-Infinity,"z":nan,"y":-inf}]}`, "line 1: google_benchmark benchmark=\"x\"(string) ok operations=2\n"},
		"quotes not escaped":    {"google-benchmark", context + `{"name":"say "hi" twice","iterations":1,"real_time":3}]}`, "line 1: google_benchmark benchmark=\"say \\\"hi\\\" twice\"(string) ok operations=1 elapsed_ns=3\n"},
		"path not escaped":      {"google-benchmark", `{"context":{"executable":"C:\bench\x.exe"},"benchmarks":[{"name":"x","iterations":1,"real_time":3}]}`, "line 1: google_benchmark benchmark=\"x\"(string) ok operations=1 elapsed_ns=3\n"},
		"aggregates of old":     {"google-benchmark", context + `{"name":"x","iterations":1,"real_time":3},{"name":"x_mean","iterations":1,"real_time":3},{"name":"x_BigO","cpu_coefficient":1}]}`, "line 1: google_benchmark benchmark=\"x\"(string) ok operations=1 elapsed_ns=3\n"},
		"skipped":               {"google-benchmark", context + `{"name":"x","iterations":1,"real_time":3},{"name":"y","run_type":"iteration","skipped":true,"skip_message":"no"}]}`, "line 1: google_benchmark benchmark=\"x\"(string) ok operations=1 elapsed_ns=3\nwarning: file:1: \"y\" was skipped and is left out\n"},
		"rounding half away":    {"hyperfine", `{"results":[{"command":"x","times":[0.0000000005,0.0000000015,0.00000000049]}]}`, "line 1: hyperfine command=\"x\"(string) ok operations=1 elapsed_ns=1 samples=[0]+[1]\nline 1: hyperfine command=\"x\"(string) ok operations=1 elapsed_ns=2 samples=[0]+[2]\nline 1: hyperfine command=\"x\"(string) ok operations=1 elapsed_ns=0 samples=[0]+[0]\n"},
		"killed and memory":     {"hyperfine", `{"results":[{"command":"x","times":[1,2],"exit_codes":[null,0],"memory_usage_byte":[4096,8192]}]}`, "line 1: hyperfine command=\"x\"(string) signalled (hyperfine states no exit code: a signal ended the command) operations=1 elapsed_ns=1000000000 peak_rss_bytes=4096 samples=[0]+[1000000000]\nline 1: hyperfine command=\"x\"(string) ok operations=1 elapsed_ns=2000000000 peak_rss_bytes=8192 exit=0 samples=[0]+[2000000000]\n"},
		"no final newline":      {"go-bench", "BenchmarkX-8\t10\t5.5 ns/op", "line 1: go_bench benchmark=\"X\"(string) procs=\"8\"(int) ok operations=10 elapsed_ns=55\n"},
		"windows line ends":     {"redis-benchmark", "\"GET\",\"10.50\"\r\n", "line 1: redis_benchmark test=\"GET\"(string) ok stated_throughput_micro_per_sec=10500000\n"},
		"progress on one line":  {"redis-benchmark", "GET: rps=0.0 (overall: nan) avg_msec=nan\r\"GET\",\"10.50\"\n", "line 1: redis_benchmark test=\"GET\"(string) ok stated_throughput_micro_per_sec=10500000\n"},
		"line over 64 KiB":      {"go-bench", "log " + strings.Repeat("x", 70_000) + "\nBenchmarkX 10 5 ns/op\n", "line 2: go_bench benchmark=\"X\"(string) procs=\"1\"(int) ok operations=10 elapsed_ns=50\n"},
		"two packages":          {"go-bench", "BenchmarkX 1 5 ns/op\npkg: p/q\nBenchmarkX 1 6 ns/op\n", "line 1: go_bench package=\"\"(string) benchmark=\"X\"(string) procs=\"1\"(int) ok operations=1 elapsed_ns=5\nline 3: go_bench package=\"p/q\"(string) benchmark=\"X\"(string) procs=\"1\"(int) ok operations=1 elapsed_ns=6\n"},
		"wrk with errors":       {"wrk", "Running 1s test @ http://h/\n  1 threads and 2 connections\n  44 requests in 1.00s, 5KB read\n  Socket errors: connect 0, read 1, write 0, timeout 2\n  Non-2xx or 3xx responses: 4\nRequests/sec: 43.90\n", "line 1: wrk url=\"http://h/\"(string) threads=\"1\"(string) connections=\"2\"(string) operation_errors (wrk counts socket errors or responses that are neither 2xx nor 3xx) operations=44 errors=7 elapsed_ns=1000000000 stated_throughput_micro_per_sec=43900000\n"},
		"k6 without requests":   {"k6", `{"metrics":{"iterations":{"count":3,"rate":1.5},"iteration_duration":{"med":0.25}}}`, "line 1: k6 operation=\"iterations\"(string) ok operations=3 stated_throughput_micro_per_sec=1500000 p50_ns=250000\n"},
		"ycsb failed requests":  {"go-ycsb", "\"Using x\nRun\n" + ycsbHeader + "\nREAD,10,2\nREAD_ERROR,11,2\nREAD,14,1\nRun finished, takes 1ms", "line 4: go_ycsb operation=\"READ\"(string) operation_errors (failed requests: 1) operations=2 errors=1 elapsed_ns=5000 started=10000 samples=[0 4000]+[2000 1000]\n"},
		"numbers beyond floats": {"go-bench", "BenchmarkX 9007199254740993 1 ns/op\n", "line 1: go_bench benchmark=\"X\"(string) procs=\"1\"(int) ok operations=9007199254740993 elapsed_ns=9007199254740993\n"},
	} {
		table, err := read(t, c.format, c.text)
		got := shown(table, err)
		want := c.want
		if strings.HasPrefix(want, "import ") {
			want = "error: " + want + "\n"
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

func TestFormatsOfBothArmsTakeNoSuiteOfTheirOwn(t *testing.T) {
	for _, f := range Formats() {
		table, _, err := f.Read(original(t, originals[f.Name][0]), "mine")
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Observations[0].Suite; !f.BothArms && got != "mine" {
			t.Errorf("%s: suite %q, want the one that was given", f.Name, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for i, format := range Formats() {
		for _, name := range originals[format.Name] {
			f.Add(uint8(i), original(f, name).Data)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, data []byte) {
		format := Formats()[int(i)%len(Formats())]
		table, src, err := format.Read(result.Source{Name: "file", Data: data}, "")
		if err != nil {
			checkError(t, "file", 0, err)
			return
		}
		again, _, err := format.Read(src, "")
		if err != nil || len(again.Observations) != len(table.Observations) {
			t.Fatalf("what the bundle keeps reads as %d results (%v), the file as %d", len(again.Observations), err, len(table.Observations))
		}
	})
}
