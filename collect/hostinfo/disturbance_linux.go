package hostinfo

import (
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// watchFiles are the files that hold the counters; empty where there is none.
type watchFiles struct {
	root, throttle, frequency string
}

// NewWatch watches the given processors; none means all of them.
func NewWatch(cpus []int) *Watch { return newWatch("/", cpus) }

func newWatch(root string, cpus []int) *Watch {
	w := &Watch{cpus: cpus, watchFiles: watchFiles{root: root}}
	c := &collector{root: root}
	if d, err := c.cgroupFor("cpu"); err == nil {
		for _, dir := range d.levels() {
			if text, err := c.read(path.Join(dir, "cpu.stat")); err == nil {
				if _, ok := throttled(text); ok {
					w.throttle = path.Join(dir, "cpu.stat")
				}
				break
			}
		}
	}
	first := 0
	if len(cpus) > 0 {
		first = cpus[0]
	}
	w.frequency = "/sys/devices/system/cpu/cpu" + strconv.Itoa(first) + "/cpufreq/scaling_cur_freq"
	if _, err := c.read(w.frequency); err != nil {
		w.frequency = ""
	}
	return w
}

// Snapshot reads the counters: about five small files.
func (w *Watch) Snapshot() Snapshot {
	var s Snapshot
	if text, ok := w.read("/proc/stat"); ok {
		s.StealNs = w.steal(text)
	}
	if text, ok := w.read("/proc/pressure/cpu"); ok {
		if total, ok := pressureField(text, "some", "total"); ok {
			if us, err := strconv.ParseInt(total, 10, 64); err == nil {
				s.CPUPressureNs = ptr(us * 1000)
			}
		}
	}
	if text, ok := w.read(w.throttle); ok {
		if ns, ok := throttled(text); ok {
			s.ThrottledNs = &ns
		}
	}
	if text, ok := w.read("/proc/loadavg"); ok {
		if load, _, found := strings.Cut(text, " "); found {
			if m, ok := milli(load); ok {
				s.Load1Milli = &m
			}
		}
	}
	if text, ok := w.read(w.frequency); ok {
		if khz, err := strconv.ParseInt(text, 10, 64); err == nil {
			s.CPUFrequencyKHz = &khz
		}
	}
	return s
}

// steal sums the stolen time over the watched processors; absent when one of
// them is not listed.
func (w *Watch) steal(stat string) *int64 {
	if len(w.cpus) == 0 {
		if t, ok := cpuTicks(stat, -1); ok {
			return ptr(t.steal * tickNs)
		}
		return nil
	}
	sum := int64(0)
	for _, cpu := range w.cpus {
		t, ok := cpuTicks(stat, cpu)
		if !ok {
			return nil
		}
		sum += t.steal * tickNs
	}
	return &sum
}

func (w *Watch) read(name string) (string, bool) {
	if name == "" {
		return "", false
	}
	text, err := readTrimmed(filepath.Join(w.root, name))
	return text, err == nil
}

// SwitchesOf reads the counters of a process that is still there, its live
// threads added up: call it at the done handshake. Threads that have ended are
// not in the switches; rusage has them once the process has been waited for,
// and is the better source then.
func SwitchesOf(pid int) Switches { return switchesOf("/", pid) }

func switchesOf(root string, pid int) Switches {
	var s Switches
	dir := filepath.Join(root, "proc", strconv.Itoa(pid))
	threads, err := os.ReadDir(filepath.Join(dir, "task"))
	if err != nil {
		return s
	}
	var voluntary, involuntary int64
	counted := false
	for _, t := range threads {
		text, err := readTrimmed(filepath.Join(dir, "task", t.Name(), "status"))
		if err != nil {
			continue // the thread has ended meanwhile
		}
		v, okV := statusNumber(text, "\nvoluntary_ctxt_switches:")
		n, okN := statusNumber(text, "\nnonvoluntary_ctxt_switches:")
		if okV && okN {
			voluntary, involuntary, counted = voluntary+v, involuntary+n, true
		}
	}
	if counted {
		s.Voluntary, s.Involuntary = &voluntary, &involuntary
	}
	if text, err := readTrimmed(filepath.Join(dir, "stat")); err == nil {
		if faults, ok := majorFaults(text); ok {
			s.MajorFaults = &faults
		}
	}
	return s
}

// statusNumber reads the number behind a label of /proc/PID/status.
func statusNumber(text, label string) (int64, bool) {
	_, rest, ok := strings.Cut(text, label)
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return n, ok && err == nil && n >= 0
}

// majorFaults reads the twelfth field of /proc/PID/stat. The second is the name
// of the program in parentheses, which may hold blanks and parentheses itself.
func majorFaults(stat string) (int64, bool) {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 10 {
		return 0, false
	}
	n, err := strconv.ParseInt(f[9], 10, 64)
	return n, err == nil && n >= 0
}

func ptr[T any](v T) *T { return &v }
