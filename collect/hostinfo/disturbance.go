package hostinfo

import (
	"strconv"
	"strings"

	"pairbench/records"
)

// Snapshot is the state of the machine's disturbance counters at one moment.
// Absent counters are those that this system does not keep.
type Snapshot struct {
	// StealNs is the time that the hypervisor took from the watched processors.
	StealNs *int64
	// CPUPressureNs is the time during which some task waited for a processor.
	CPUPressureNs *int64
	// ThrottledNs is the time that a control group's quota held tasks back.
	ThrottledNs *int64
	Load1Milli  *int64
	// CPUFrequencyKHz is the first watched processor's frequency.
	CPUFrequencyKHz *int64
}

// Watch takes snapshots for the processes of one collection. Make it once: it
// looks up where the counters are. Not for concurrent use.
type Watch struct {
	cpus []int
	watchFiles
}

// Disturbance is what happened between two snapshots, and to the process that
// ran there.
type Disturbance struct {
	StealNs, CPUPressureNs, ThrottledNs *int64
	// Load1Milli is the load before, CPUFrequencyKHz the frequency after.
	Load1Milli, CPUFrequencyKHz *int64
	Switches
}

// Switches are counters of one process, all its threads that are alive
// together.
type Switches struct {
	Voluntary, Involuntary, MajorFaults *int64
}

// Between returns what happened from before to after. A counter that went
// backwards was reset meanwhile and is absent.
func Between(before, after Snapshot) Disturbance {
	return Disturbance{
		StealNs:         grown(before.StealNs, after.StealNs),
		CPUPressureNs:   grown(before.CPUPressureNs, after.CPUPressureNs),
		ThrottledNs:     grown(before.ThrottledNs, after.ThrottledNs),
		Load1Milli:      before.Load1Milli,
		CPUFrequencyKHz: after.CPUFrequencyKHz,
	}
}

func grown(before, after *int64) *int64 {
	if before == nil || after == nil || *after < *before {
		return nil
	}
	d := *after - *before
	return &d
}

// Record writes the disturbance into a process's row. What is absent here stays
// as it is there: the row may have it from elsewhere.
func (d Disturbance) Record(p *records.Process) {
	for _, f := range []struct {
		to   **int64
		from *int64
	}{
		{&p.StealNs, d.StealNs},
		{&p.CPUPressureNs, d.CPUPressureNs},
		{&p.ThrottledNs, d.ThrottledNs},
		{&p.Load1Milli, d.Load1Milli},
		{&p.CPUFrequencyKHz, d.CPUFrequencyKHz},
		{&p.VoluntarySwitches, d.Voluntary},
		{&p.InvoluntarySwitches, d.Involuntary},
		{&p.MajorFaults, d.MajorFaults},
	} {
		if f.from != nil {
			*f.to = f.from
		}
	}
}

// tickNs is the unit of /proc/stat as user space sees it, which Linux has fixed
// at a hundredth of a second on every architecture that Go runs on.
const tickNs = 10_000_000

type ticks struct{ total, steal int64 }

// cpuTicks reads the line of one processor in /proc/stat, or with -1 the line
// of all of them:
//
//	cpu0 user nice system idle iowait irq softirq steal guest guest_nice
func cpuTicks(stat string, cpu int) (ticks, bool) {
	name := "cpu"
	if cpu >= 0 {
		name += strconv.Itoa(cpu)
	}
	for line := range strings.Lines(stat) {
		if !strings.HasPrefix(line, "cpu") {
			break
		}
		f := strings.Fields(line)
		if f[0] != name {
			continue
		}
		if len(f) < 9 {
			return ticks{}, false
		}
		var t ticks
		for i, text := range f[1:9] {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 0 {
				return ticks{}, false
			}
			t.total += n
			if i == 7 {
				t.steal = n
			}
		}
		return t, true
	}
	return ticks{}, false
}

// pressureField reads one field of a pressure file:
//
//	some avg10=0.00 avg60=0.00 avg300=0.00 total=12345
func pressureField(text, kind, field string) (string, bool) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != kind {
			continue
		}
		for _, pair := range f[1:] {
			if value, ok := strings.CutPrefix(pair, field+"="); ok {
				return value, true
			}
		}
	}
	return "", false
}

// milli turns "0.42" into 420, cutting what is finer.
func milli(text string) (int64, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = (fraction + "000")[:3]
	n, err := strconv.ParseInt(whole+fraction, 10, 64)
	return n, err == nil && n >= 0
}
