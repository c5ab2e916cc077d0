package importer

import (
	"os"
	"strings"
	"testing"

	"pairbench/collect/importer/result"
)

func pair(t *testing.T, formatName string, a, b []string) (result.Table, error) {
	t.Helper()
	var sources [2][]result.Source
	var tables [2][]result.Table
	for i, texts := range [2][]string{a, b} {
		for _, text := range texts {
			table, src, err := format(t, formatName).Read(result.Source{Name: []string{"old.txt", "new.txt"}[i], Data: []byte(text)}, "")
			if err != nil {
				t.Fatal(err)
			}
			sources[i] = append(sources[i], src)
			tables[i] = append(tables[i], table)
		}
	}
	return Pair(sources[0], sources[1], tables[0], tables[1])
}

func TestFilesBecomeArms(t *testing.T) {
	const wrk = "Running 1s test @ http://%s/\n  1 threads and 2 connections\n  44 requests in 1.00s, 5KB read\nRequests/sec: 43.90\n"
	report := func(host string) string { return strings.Replace(wrk, "%s", host, 1) }
	for name, c := range map[string]struct {
		format string
		a, b   []string
		want   string
	}{
		"rounds of one file": {"go-bench", []string{"BenchmarkX 1 5 ns/op\nBenchmarkX 1 6 ns/op\n"}, []string{"BenchmarkX 1 7 ns/op\n"},
			`X old 1, X old 2, X new 1`},
		"rounds of several files": {"go-bench", []string{"BenchmarkX 1 5 ns/op\n", "BenchmarkX 1 6 ns/op\n"}, []string{"BenchmarkX 1 7 ns/op\n", "BenchmarkX 1 8 ns/op\n"},
			`X A 1, X A 2, X B 1, X B 2`},
		"unmatched stay and are listed": {"go-bench", []string{"BenchmarkX 1 5 ns/op\nBenchmarkY 1 5 ns/op\n"}, []string{"BenchmarkX 1 7 ns/op\nBenchmarkZ 1 7 ns/op\n"},
			`X old 1, Y old 1, X new 1, Z new 1; unmatched: benchmark=Y/procs=1 is only in arm old; unmatched: benchmark=Z/procs=1 is only in arm new`},
		"nothing in common": {"go-bench", []string{"BenchmarkX 1 5 ns/op\n"}, []string{"BenchmarkZ 1 7 ns/op\n"},
			`import old.txt and new.txt: found no result with the same name in both, expected one or more; A has "benchmark=X/procs=1", B has "benchmark=Z/procs=1"`},
		"one address against another": {"wrk", []string{report("old")}, []string{report("new")},
			`http://old/ → http://new/ old 1, http://old/ → http://new/ new 1; matched the only result of each: url=http://old//threads=1/connections=2 in arm old is url=http://new//threads=1/connections=2 in arm new`},
	} {
		table, err := pair(t, c.format, c.a, c.b)
		var rows []string
		for _, o := range table.Observations {
			rows = append(rows, o.Factors[0].Value.Str+" "+o.Process.Arm+" "+string(rune('0'+o.Process.Round)))
		}
		got := strings.Join(append([]string{strings.Join(rows, ", ")}, table.Warnings...), "; ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestArmsAreNamedAfterFiles(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want [2]string
	}{
		{"old.json", "new.json", [2]string{"old", "new"}},
		{"runs/before.json.gz", "runs/after.json.gz", [2]string{"before", "after"}},
		{"a/result.json", "b/result.json", [2]string{"A", "B"}},
		{".json", "b.json", [2]string{"A", "B"}},
	} {
		if got := armNames(stem(c.a), stem(c.b)); got != c.want {
			t.Errorf("armNames(%q, %q) is %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestPickedResultsAreThePartnersOfEachOther(t *testing.T) {
	data, err := os.ReadFile("testdata/hyperfine-a.json")
	if err != nil {
		t.Fatal(err)
	}
	table, src, err := format(t, "hyperfine").Read(result.Source{Name: "both.json", Data: data}, "")
	if err != nil {
		t.Fatal(err)
	}
	var picked [2]result.Table
	for i, name := range []string{"sleep 0.01", "sleep 0.02"} {
		if picked[i], err = Pick(table, "both.json", name); err != nil {
			t.Fatal(err)
		}
	}
	sources := []result.Source{src}
	joined, err := Pair(sources, sources, picked[:1], picked[1:])
	if err != nil {
		t.Fatal(err)
	}
	if want := [2]string{"sleep 0.01", "sleep 0.02"}; joined.Arms != want || len(joined.Observations) != len(table.Observations) {
		t.Errorf("arms are %q with %d of %d results, want %q with all", joined.Arms, len(joined.Observations), len(table.Observations), want)
	}
	for _, o := range joined.Observations {
		if got := o.Factors[0].Value.String(); got != "sleep 0.01 → sleep 0.02" {
			t.Errorf("a result is of the cell %s, want one that names both", got)
		}
	}
	const want = `import both.json: found no result "sleep 3", expected one of "sleep 0.01", "sleep 0.02"`
	if _, err := Pick(table, "both.json", "sleep 3"); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestRunSpansItsProcessesWithoutMonotonicTime(t *testing.T) {
	table, err := pair(t, "go-ycsb", []string{ycsbHeader + "\nREAD,1700000000000000,5\n"}, []string{ycsbHeader + "\nREAD,1700000009000000,1000000\n"})
	if err != nil {
		t.Fatal(err)
	}
	in, err := Build("file", table, Options{Format: "go-ycsb"})
	if err != nil {
		t.Fatal(err)
	}
	if got := in.Run; got.StartedAt.Unix() != 1_700_000_000 || got.EndedAt.Unix() != 1_700_000_010 || got.ElapsedNs != 0 {
		t.Errorf("run from %v to %v, %d ns on a monotonic clock; want 1700000000 to 1700000010 and no monotonic time", got.StartedAt, got.EndedAt, got.ElapsedNs)
	}
	if table, err = pair(t, "go-bench", []string{"BenchmarkX 1 5 ns/op"}, []string{"BenchmarkX 1 5 ns/op"}); err != nil {
		t.Fatal(err)
	}
	if in, err = Build("file", table, Options{Format: "go-bench"}); err != nil || !in.Run.StartedAt.IsZero() || in.Run.ElapsedNs != 0 {
		t.Errorf("a file without times makes a run from %v for %d ns (%v)", in.Run.StartedAt, in.Run.ElapsedNs, err)
	}
}
