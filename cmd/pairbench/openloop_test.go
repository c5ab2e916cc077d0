package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pairbench/analyze/report"
)

// Open loops of every database workload and of TCP show service time and
// response time side by side, by these names, in both languages; a request is
// never served in less than it takes from its schedule.
func TestOpenLoopsShowServiceAndResponseTime(t *testing.T) {
	pairbench, dir := builtCommands(t), t.TempDir()
	var plan strings.Builder
	plan.WriteString("plan: 1\nstudy: open\narms: [{name: callback}, {name: goroutine}]\nrounds: 1\nsuites:\n")
	for _, s := range []struct{ workload, service string }{
		{"redis_echo", "{name: redis, kind: redis, mode: embedded}"},
		{"mysql_text", "{name: mysql, kind: mysql, mode: managed}"},
		{"tcp_echo", "{name: tcp, kind: echo, mode: embedded}"},
	} {
		fmt.Fprintf(&plan, "  - {id: %s, workload: %s, service: %s, factors: {arrival: [constant, poisson]}, "+
			"constants: {connections: 2, outstanding: 8, payload_bytes: 64, rate_per_sec: 2000}, warmup: {operations: 20}, measure: {operations: 300}}\n",
			s.workload, s.workload, s.service)
	}
	file, out := filepath.Join(dir, "open.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte(plan.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command(pairbench, "run", "--out", out, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	f, err := os.Open(filepath.Join(out, "analysis", "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := report.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"throughput", "cpu", "latency_p50", "response_p50", "latency_p99", "response_p99", "peak_rss"}
	for _, s := range r.Suites {
		for i, m := range s.Metrics {
			if len(s.Metrics) != len(want) || m.ID != want[i] {
				t.Fatalf("%s shows %v, expected %v", s.ID, s.Metrics, want)
			}
		}
		for _, c := range s.Cells {
			for _, p := range c.Processes {
				for _, at := range []int{2, 4} {
					if p.Values[at] == nil || p.Values[at+1] == nil || p.Values[at].Rat().Cmp(p.Values[at+1].Rat()) > 0 {
						t.Errorf("%s %s: %s %v, %s %v", s.ID, p.ProcessID, want[at], p.Values[at], want[at+1], p.Values[at+1])
					}
				}
			}
		}
	}
	for lang, names := range map[string][]string{
		"en":    {"P50 service time", "P50 response time", "P99 service time", "P99 response time"},
		"zh-CN": {"P50 服务时间", "P50 响应时间", "P99 服务时间", "P99 响应时间"},
	} {
		text, err := os.ReadFile(filepath.Join(out, "report", "report."+lang+".md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, suite := range []string{"redis_echo", "mysql_text", "tcp_echo"} {
			rest := string(text)
			for _, name := range names {
				row := "| " + suite + " | " + name + " |"
				_, after, found := strings.Cut(rest, row)
				if !found {
					t.Errorf("%s: no row %q after the one before", lang, row)
				}
				rest = after
			}
		}
		if strings.Contains(string(text), " response_p") {
			t.Errorf("%s: a metric is shown by its id", lang)
		}
	}
}
