package hostinfo

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"pairbench/records"
)

// machine unpacks a fixture and returns the directory that stands for its /.
func machine(t testing.TB, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// factsOf returns the facts of a fixture without those of the program that
// runs the test.
func factsOf(t testing.TB, name string) []records.HostFact {
	t.Helper()
	c := &collector{root: machine(t, name)}
	c.linuxFacts()
	return slices.DeleteFunc(c.sorted(), func(f records.HostFact) bool {
		return f.Name == "machine.arch" || f.Name == "go.version"
	})
}

// golden compares with a file, or writes it when UPDATE_GOLDEN=1.
func golden(t *testing.T, name string, got any) {
	t.Helper()
	b, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(b)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// lines words facts for a golden file.
func lines(facts []records.HostFact) []string {
	var out []string
	for _, f := range facts {
		line := f.Name
		switch {
		case f.Value != nil:
			line += " = " + *f.Value
		case f.AbsentReason != nil:
			line += " absent: " + *f.AbsentReason
		}
		if f.Unit != nil {
			line += " [" + *f.Unit + "]"
		}
		out = append(out, line)
	}
	return out
}

func TestFactsOfMachines(t *testing.T) {
	for _, name := range []string{"laptop", "server", "container"} {
		t.Run(name, func(t *testing.T) { golden(t, name+".facts.json", lines(factsOf(t, name))) })
	}
}

func TestDoctorOfMachines(t *testing.T) {
	for name, needs := range map[string]Needs{
		"laptop":    {BusyThreads: 3, OpenFiles: 1000, MemoryBytes: 1 << 30},
		"server":    {BusyThreads: 3, OpenFiles: 1000, MemoryBytes: 1 << 30, CPUs: []int{6, 7}},
		"container": {BusyThreads: 2, CPUs: []int{4}},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name+".doctor.json", examine(factsOf(t, name), needs)) })
	}
}

func TestEveryFactHasAValueOrAReason(t *testing.T) {
	all := map[string][]records.HostFact{"this machine": Facts(t.Context()), "calibration": Calibrate()}
	for _, name := range []string{"laptop", "server", "container"} {
		all[name] = factsOf(t, name)
	}
	c := &collector{root: t.TempDir()}
	if c.linuxFacts(); len(c.facts) < 50 {
		t.Errorf("a machine that tells nothing has only %d rows: absences are not recorded", len(c.facts))
	}
	all["a machine that tells nothing"] = c.sorted()
	for machine, facts := range all {
		seen := map[string]bool{}
		for _, f := range facts {
			if (f.Value == nil) == (f.AbsentReason == nil) {
				t.Errorf("%s: %s has value %v and reason %v, want exactly one", machine, f.Name, f.Value, f.AbsentReason)
			}
			if f.Value != nil && *f.Value == "" || f.Source == "" || !strings.Contains(f.Name, ".") {
				t.Errorf("%s: %+v has an empty value or source, or a name without a dot", machine, f)
			}
			if seen[f.Name] {
				t.Errorf("%s: %s is there twice", machine, f.Name)
			}
			seen[f.Name] = true
		}
	}
}

func TestNothingPrivateIsRecorded(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	private := []string{"SECRET", "S3CRET", "hunter2", "alices", "4d1b0a52", "0123456789abcdef0123456789abcdef", "secret.key"}
	text := strings.Join(lines(factsOf(t, "laptop")), "\n")
	for _, p := range private {
		if strings.Contains(text, p) {
			t.Errorf("the facts hold %q:\n%s", p, text)
		}
	}
	for _, f := range Facts(t.Context()) {
		if f.Value != nil && *f.Value == host {
			t.Errorf("%s is the name of the host", f.Name)
		}
	}
}

func TestDiffComparesTheMachineAndNotItsMood(t *testing.T) {
	before := factsOf(t, "laptop")
	now := slices.Clone(before)
	change := func(name, value string) {
		for i, f := range now {
			if f.Name == name {
				now[i].Value, now[i].AbsentReason = &value, nil
			}
		}
	}
	change("load.1m", "17.00")
	change("memory.available_bytes", "1")
	change("cpu.frequency_khz", "1")
	if got := Diff(before, now); len(got) > 0 {
		t.Errorf("load and frequency make another machine: %v", got)
	}
	change("kernel.release", "6.1.0-19-amd64")
	change("machine.virtualisation", "xen")
	want := []string{"kernel.release: was 6.1.0-18-amd64, is 6.1.0-19-amd64", "machine.virtualisation: was none seen, is xen"}
	if diff := cmp.Diff(want, Diff(before, now)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if got := Diff(before, nil); len(got) == 0 {
		t.Error("no facts at all are the same machine")
	}
}

func TestPortsInUseAreNamed(t *testing.T) {
	busy := listen(t)
	checks := portChecks(t.Context(), []string{busy, "no address"})
	if len(checks) != 2 || checks[0].Status != StatusBad || checks[0].Found != busy+" is in use" || checks[0].Mend == "" || checks[1].Status != StatusBad {
		t.Errorf("checks %+v, want both bad and the first in use", checks)
	}
}

func TestDoctorLooksAtThisMachine(t *testing.T) {
	checks := Doctor(t.Context(), Needs{})
	ids := map[string]bool{}
	for _, c := range checks {
		ids[c.ID] = true
		needsMending := c.Status == StatusWarn || c.Status == StatusBad
		if c.Found == "" || c.Why == "" || needsMending != (c.Mend != "") {
			t.Errorf("check %+v: want what was found, why it matters, and how to mend it exactly when something is wrong", c)
		}
	}
	for _, id := range []string{
		"cores", "cgroup_quota", "governor", "turbo", "smt", "aslr", "thp", "swap", "memory", "load", "pressure",
		"steal", "clock_source", "battery", "thermal", "open_files", "local_ports", "port",
	} {
		if !ids[id] {
			t.Errorf("no check %s", id)
		}
	}
}

func TestCPULists(t *testing.T) {
	for text, want := range map[string][]int{
		"0": {0}, "0-3": {0, 1, 2, 3}, "0,2-3,8": {0, 2, 3, 8},
		"": nil, "3-1": nil, "a": nil, "0-99999999": nil, "-1": nil, "1,": nil,
	} {
		if diff := cmp.Diff(want, cpuList(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestCalibrationFindsAWorkingClock(t *testing.T) {
	v := values(Calibrate())
	for _, name := range []string{"calibration.clock_read_ns", "calibration.clock_tick_ns", "calibration.clock_step_ns"} {
		if n, ok := milli(v[name]); v[name] == "" || !ok || n <= 0 {
			t.Errorf("%s is %q, want a positive number", name, v[name])
		}
	}
}

func TestTickIsTheCommonDivisor(t *testing.T) {
	if got := greatestCommonDivisor([]int64{125, 250, 41 * 125}); got != 125 {
		t.Errorf("tick %d, want 125", got)
	}
}

func FuzzFactParsers(f *testing.F) {
	for _, seed := range []string{"0-3,8", "some avg10=0.00 total=1", "cpu0 1 2 3 4 5 6 7 8", "always [madvise] never", "12 kB", "a=\"b c\" -- d", "throttled_usec 1", "1.5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n := len(cpuList(text)); n > 1<<18 {
			t.Errorf("%d processors from %d bytes", n, len(text))
		}
		if b, err := kibibytes(text); err == nil && strings.HasPrefix(b, "-") {
			t.Errorf("negative size %s", b)
		}
		if ticks, ok := cpuTicks(text, 0); ok && ticks.steal < 0 {
			t.Errorf("negative steal %d", ticks.steal)
		}
		pressureField(text, "some", "total")
		_, _ = selected(text)
		_, _ = redactCmdline(text)
		throttled(text)
		quotaMilli(text, text)
		if m, ok := milli(text); ok && m < 0 {
			t.Errorf("negative thousandths %d", m)
		}
	})
}

// A service that has to answer is asked, and one that does not is bad.
func TestServicesMustAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	there := l.Addr().String()
	if got := serviceChecks(t.Context(), []string{there}); len(got) != 1 || got[0].ID != "service" || got[0].Status != StatusOK || got[0].Mend != "" {
		t.Errorf("a service that answers: %+v", got)
	}
	l.Close()
	if got := serviceChecks(t.Context(), []string{there}); len(got) != 1 || got[0].Status != StatusBad || !strings.Contains(got[0].Found, there) || got[0].Why == "" || got[0].Mend == "" {
		t.Errorf("a service that is gone: %+v", got)
	}
}

// Every need of a plan is set against what is there, and one that is not met is
// bad with the way to meet it.
func TestNeedsOfAPlanAreChecked(t *testing.T) {
	facts := []records.HostFact{}
	for name, value := range map[string]string{"cpu.allowed": "0-1", "limits.open_files_soft": "1024", "limits.open_files_hard": "4096", "memory.available_bytes": "1073741824"} {
		facts = append(facts, records.HostFact{Name: name, Value: &value})
	}
	for id, c := range map[string]struct{ met, unmet Needs }{
		"cores":      {Needs{BusyThreads: 1}, Needs{BusyThreads: 3}},
		"open_files": {Needs{OpenFiles: 1024}, Needs{OpenFiles: 1025}},
		"memory":     {Needs{MemoryBytes: 1 << 30}, Needs{MemoryBytes: 1<<30 + 1}},
	} {
		for _, needs := range []Needs{c.met, c.unmet} {
			found := false
			for _, check := range examine(facts, needs) {
				if check.ID != id {
					continue
				}
				found = true
				if ok := check.Status == StatusOK; ok != (needs.BusyThreads == c.met.BusyThreads && needs.OpenFiles == c.met.OpenFiles && needs.MemoryBytes == c.met.MemoryBytes) || ok == (check.Mend != "") || check.Why == "" {
					t.Errorf("%s with %+v: %+v", id, needs, check)
				}
				if id != "cores" && !strings.Contains(check.Found, "needed") {
					t.Errorf("%s does not say what is needed: %q", id, check.Found)
				}
			}
			if !found {
				t.Errorf("nothing checks %s", id)
			}
		}
	}
}
