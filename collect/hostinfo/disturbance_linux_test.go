package hostinfo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSnapshotOfMachines(t *testing.T) {
	laptop, container := machine(t, "laptop"), machine(t, "container")
	for _, c := range []struct {
		name string
		root string
		cpus []int
		want Snapshot
	}{
		{"all processors", laptop, nil, Snapshot{StealNs: number(200_000_000), CPUPressureNs: number(123_456_789_000), ThrottledNs: number(12_345_000), Load1Milli: number(3140), CPUFrequencyKHz: number(1_400_000)}},
		{"one processor", laptop, []int{1}, Snapshot{StealNs: number(0), CPUPressureNs: number(123_456_789_000), ThrottledNs: number(12_345_000), Load1Milli: number(3140)}},
		{"a processor that is not there", laptop, []int{9}, Snapshot{CPUPressureNs: number(123_456_789_000), ThrottledNs: number(12_345_000), Load1Milli: number(3140)}},
		{"version 1 groups", container, nil, Snapshot{StealNs: number(9_000_000_000), ThrottledNs: number(4_000_000), Load1Milli: number(500)}},
		{"nothing", t.TempDir(), nil, Snapshot{}},
	} {
		if diff := cmp.Diff(c.want, newWatch(c.root, c.cpus).Snapshot()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestSwitchesAreThoseOfAllThreads(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"stat":           "7 (a) b) S 1 7 7 0 -1 4194560 100 0 13 0 1 2 0 0 20 0 2 0 1 1 1",
		"task/7/status":  "Name:\ta\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n",
		"task/8/status":  "Name:\tb\nvoluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t0\n",
		"task/9/comm":    "a thread that ends while it is read",
		"task/10/status": "damaged",
	} {
		path := filepath.Join(root, "proc/7", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := Switches{Voluntary: number(15), Involuntary: number(2), MajorFaults: number(13)}
	if diff := cmp.Diff(want, switchesOf(root, 7)); diff != "" {
		t.Errorf("switches (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Switches{}, switchesOf(root, 8)); diff != "" {
		t.Errorf("a process that is not there has switches:\n%s", diff)
	}
	if own := SwitchesOf(os.Getpid()); own.Voluntary == nil || own.MajorFaults == nil {
		t.Errorf("this process has no counters: %+v", own)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	w := NewWatch(nil)
	for b.Loop() {
		w.Snapshot()
	}
}

func BenchmarkSwitchesOf(b *testing.B) {
	pid := os.Getpid()
	for b.Loop() {
		SwitchesOf(pid)
	}
}
