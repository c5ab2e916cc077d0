package proc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

const mebibyte = 1 << 20

// snapshotAtDone plays the collector's part of the protocol and returns what it
// reads before it lets the process exit.
func snapshotAtDone(b bed, spec Spec) (Snapshot, Exit) {
	b.t.Helper()
	spec.Protocol = true
	p := b.start(spec)
	if _, err := bufio.NewReader(p.Messages()).ReadString('\n'); err != nil {
		b.t.Fatal(err)
	}
	snapshot, err := p.Snapshot()
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := io.WriteString(p.Commands(), "exit\n"); err != nil {
		b.t.Fatal(err)
	}
	return snapshot, p.Wait(context.Background())
}

// The same program is measured by each method under a collector of the size
// that it has, and under one that holds 500 MB.
func TestPeakRSSIsNotTheCollectors(t *testing.T) {
	measure := func() map[string]int64 {
		peaks := make(map[string]int64)
		snapshot, exit := snapshotAtDone(newBed(t), newBed(t).spec("protocol", "32"))
		if diff := cmp.Diff(snapshot.Peak, exit.Peak); diff != "" {
			t.Errorf("peak of the snapshot and of the exit (-snapshot +exit):\n%s", diff)
		}
		for source, peak := range map[string]*PeakRSS{
			SourceSnapshot: snapshot.Peak,
			SourcePtrace:   atExit(newBed(t), RSSAtExit),
			SourceLauncher: atExit(newBed(t), RSSByLauncher),
		} {
			if peak == nil || peak.Source != source {
				t.Fatalf("peak is %+v, expected one from %s", peak, source)
			}
			if peak.FloorBytes > mebibyte {
				t.Errorf("%s: the floor is %d bytes, expected at most 1 MiB", source, peak.FloorBytes)
			}
			if peak.Bytes < 32*mebibyte || peak.Bytes > 64*mebibyte {
				t.Errorf("%s: the peak is %d bytes, expected 32 MiB and what a Go program needs", source, peak.Bytes)
			}
			peaks[source] = peak.Bytes
		}
		return peaks
	}
	small := measure()
	held, err := syscall.Mmap(-1, 0, 500*mebibyte, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(held)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	for source, large := range measure() {
		t.Logf("%s: %d bytes under a small collector, %+d under a large one", source, small[source], large-small[source])
		if difference := large - small[source]; difference >= mebibyte || difference <= -mebibyte {
			t.Errorf("%s: %d bytes under a small collector, %d under one of 500 MB", source, small[source], large)
		}
	}
}

func atExit(b bed, method RSSMethod) *PeakRSS {
	spec := b.spec("touch", "32")
	spec.RSS = method
	return b.run(spec).Peak
}

// Where the system bars ptrace, the launcher takes its place.
func TestPtraceBarred(t *testing.T) {
	b := newBed(t)
	spec := b.spec("barred")
	if exit := endingOf(b.run(spec)); exit != (ending{0, none, "", 0}) {
		t.Fatalf("ended as %+v: %s", exit, b.read(b.stderr()))
	}
	if got := strings.TrimSpace(b.read(b.stdout())); got != SourceLauncher {
		t.Errorf("the source is %q, expected %s", got, SourceLauncher)
	}
}

func init() {
	parts["barred"] = func([]string) {
		barPtrace()
		p, err := Start(Spec{Argv: []string{os.Args[0], "helper", "quiet"}, RSS: RSSAtExit})
		must(err)
		exit := p.Wait(context.Background())
		if exit.Peak == nil {
			must(fmt.Errorf("no peak: %+v", exit))
		}
		fmt.Println(exit.Peak.Source)
	}
}

// barPtrace makes every later ptrace of this program fail with EPERM.
func barPtrace() {
	statement := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	filter := []unix.SockFilter{
		statement(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0), // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_PTRACE},
		statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)),
		statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW),
	}
	must(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program))); errno != 0 {
		must(errno)
	}
}

func TestCPUIncludesChildrenThatWereWaitedFor(t *testing.T) {
	const burnt = int64(100 * time.Millisecond)
	for name, method := range map[string]RSSMethod{"plain": RSSAtSnapshot, "traced": RSSAtExit, "launcher": RSSByLauncher} {
		b := newBed(t)
		spec := b.spec("burnchild")
		spec.RSS = method
		exit := b.run(spec)
		if exit.CPUNs < burnt || exit.CPUUserNs+exit.CPUSystemNs > exit.CPUNs {
			t.Errorf("%s: CPU is %d ns, user %d, system %d, expected at least %d", name, exit.CPUNs, exit.CPUUserNs, exit.CPUSystemNs, burnt)
		}
		if exit.LeftoverCPUNs != 0 {
			t.Errorf("%s: CPU of leftovers is %d ns, expected none", name, exit.LeftoverCPUNs)
		}
		b = newBed(t)
		spec = b.spec("burnorphan")
		spec.RSS = method
		exit = b.run(spec)
		if exit.LeftoverCPUNs < burnt || exit.CPUNs >= burnt {
			t.Errorf("%s: CPU is %d ns and of leftovers %d, expected %d with the leftover", name, exit.CPUNs, exit.LeftoverCPUNs, burnt)
		}
	}
}

func TestMeasuresOfAProcess(t *testing.T) {
	before := time.Now()
	snapshot, exit := snapshotAtDone(newBed(t), newBed(t).spec("protocol"))
	wall := time.Since(before).Nanoseconds()
	if exit.WallNs <= 0 || exit.WallNs > wall || snapshot.WallNs > exit.WallNs {
		t.Errorf("wall is %d ns at the snapshot and %d in all, the test took %d", snapshot.WallNs, exit.WallNs, wall)
	}
	if snapshot.CPUNs == nil || *snapshot.CPUNs <= 0 || *snapshot.CPUNs > exit.CPUNs {
		t.Errorf("CPU is %v at the snapshot and %d in all", snapshot.CPUNs, exit.CPUNs)
	}
	if snapshot.Threads == nil || *snapshot.Threads < 2 {
		t.Errorf("threads are %v, expected those of a Go program", snapshot.Threads)
	}
	if exit.StartedAt.Before(before) || exit.VoluntarySwitches+exit.InvoluntarySwitches == 0 {
		t.Errorf("started at %v, switches %d", exit.StartedAt, exit.VoluntarySwitches)
	}
}

// Every thread of the process runs where it was told to, and the collector's
// threads where they did before.
func TestPlacementHoldsAndIsGivenBack(t *testing.T) {
	var own unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		t.Fatal(err)
	}
	available := cpuList(own)
	for _, cpus := range [][]int{{available[0]}, {available[len(available)-1]}, nil} {
		for range 8 {
			spec := newBed(t).spec("protocol")
			spec.CPUs = cpus
			snapshot, _ := snapshotAtDone(newBed(t), spec)
			want := cpus
			if want == nil {
				want = available
			}
			if diff := cmp.Diff(want, snapshot.CPUs); diff != "" {
				t.Fatalf("asked for %v (-want +got):\n%s", cpus, diff)
			}
		}
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		line, err := os.ReadFile("/proc/self/task/" + task.Name() + "/status")
		if err != nil {
			continue // the thread has ended
		}
		_, list, _ := strings.Cut(string(line), "Cpus_allowed_list:")
		list, _, _ = strings.Cut(strings.TrimSpace(list), "\n")
		if list != FormatCPUs(available) {
			t.Errorf("thread %s of the collector may run on %s, expected %s", task.Name(), list, FormatCPUs(available))
		}
	}
}

func BenchmarkStartToEnd(b *testing.B) {
	for b.Loop() {
		p, err := Start(Spec{Argv: []string{"true"}})
		if err != nil {
			b.Fatal(err)
		}
		p.Wait(context.Background())
	}
}

func BenchmarkSweepScan(b *testing.B) {
	p := &Process{pid: 1 << 30}
	for b.Loop() {
		p.members()
	}
}
