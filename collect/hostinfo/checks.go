package hostinfo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (e *examination) cores() {
	const why = "a busy thread without a processor of its own waits for another one, and the wait is measured as latency"
	there, cpus, ok := e.usableCPUs()
	if !ok {
		e.unknown("cores", "cpu.logical", why)
		return
	}
	found := fmt.Sprintf("processors to run on: %d", there)
	for _, cpu := range e.needs.CPUs {
		if cpus != nil && !slices.Contains(cpus, cpu) {
			e.verdict("cores", StatusBad, fmt.Sprintf("%s, but not processor %d, which the plan pins to", found, cpu), why, "change the placement in the plan")
			return
		}
	}
	if e.needs.BusyThreads == 0 {
		e.verdict("cores", StatusOK, found, why, "")
		return
	}
	found += fmt.Sprintf(", %d busy threads in the largest cell", e.needs.BusyThreads)
	switch {
	case there < int64(e.needs.BusyThreads):
		e.verdict("cores", StatusWarn, found, why, "use a machine with more processors, or read the results as those of a crowded machine; the report says so")
	case there == int64(e.needs.BusyThreads):
		e.verdict("cores", StatusWarn, found+", none left for the system", why, "leave one processor to the system and the collector")
	default:
		e.verdict("cores", StatusOK, found, why, "")
	}
}

func (e *examination) quota() {
	const why = "a quota stops all threads of a group for the rest of a period, up to a tenth of a second, in the middle of requests"
	text := e.value["cgroup.cpu_quota_milli"]
	if text == "" {
		e.unknown("cgroup_quota", "cgroup.cpu_quota_milli", why)
		return
	}
	milli, limited := e.number("cgroup.cpu_quota_milli")
	if !limited {
		e.verdict("cgroup_quota", StatusOK, "no quota", why, "")
		return
	}
	there, _, _ := e.usableCPUs()
	found := fmt.Sprintf("%d.%03d processors' time", milli/1000, milli%1000)
	status := StatusWarn
	if milli < int64(max(e.needs.BusyThreads, 1))*1000 {
		status = StatusBad
	} else if there > 0 && milli >= there*1000 {
		status = StatusOK
	}
	if ns, ok := e.number("cgroup.throttled_ns"); ok && ns > 0 {
		found += fmt.Sprintf(", held back for %d ms so far", ns/1_000_000)
	}
	e.verdict("cgroup_quota", status, found, why, "raise or remove the limit of the container (cpu.max; docker run without --cpus)")
}

func (e *examination) governor() {
	const why = "a governor that follows the load changes the frequency between and inside processes"
	g := e.value["cpu.governor"]
	switch {
	case g == "":
		e.unknown("governor", "cpu.governor", why)
	case g == "performance":
		e.verdict("governor", StatusOK, g, why, "")
	default:
		e.verdict("governor", StatusWarn, g, why, "cpupower frequency-set -g performance")
	}
}

func (e *examination) turbo() {
	const why = "turbo raises the frequency by temperature and by how many cores are busy, so the second process of a pair can run slower than the first"
	switch e.value["cpu.turbo"] {
	case "":
		e.unknown("turbo", "cpu.turbo", why)
	case "off":
		e.verdict("turbo", StatusOK, "off", why, "")
	default:
		e.verdict("turbo", StatusWarn, "on", why, "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost")
	}
}

func (e *examination) smt() {
	const why = "two threads of one core share its execution units: what runs on the sibling changes what is measured"
	threads, ok := e.number("cpu.threads_per_core")
	switch active := e.value["cpu.smt_active"]; {
	case active == "0", active == "" && ok && threads == 1:
		e.verdict("smt", StatusOK, "one thread a core", why, "")
	case active == "" && !ok:
		e.unknown("smt", "cpu.smt_active", why)
	default:
		e.verdict("smt", StatusWarn, "on", why, "echo off > /sys/devices/system/cpu/smt/control, or pin client and server to different cores")
	}
}

func (e *examination) aslr() {
	const why = "addresses decide how code and data share caches; left on, fresh processes average over it, switched off, one lucky or unlucky layout is measured again and again"
	switch e.value["kernel.aslr"] {
	case "":
		e.unknown("aslr", "kernel.aslr", why)
	case "0", "off":
		e.verdict("aslr", StatusWarn, "off", why, "sysctl kernel.randomize_va_space=2")
	default:
		e.verdict("aslr", StatusOK, "on ("+e.value["kernel.aslr"]+"), and recorded", why, "")
	}
}

func (e *examination) thp() {
	const why = "with always, the kernel turns memory into huge pages in the background, which changes memory use and stalls at times of its own choosing"
	switch mode := e.value["memory.thp"]; mode {
	case "":
		e.unknown("thp", "memory.thp", why)
	case "always":
		e.verdict("thp", StatusWarn, mode, why, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
	default:
		e.verdict("thp", StatusOK, mode, why, "")
	}
}

func (e *examination) swap() {
	const why = "a page that comes back from swap costs milliseconds, and pages that went there are missing from the resident set"
	total, ok := e.number("swap.total_bytes")
	free, okFree := e.number("swap.free_bytes")
	switch {
	case !ok:
		e.unknown("swap", "swap.total_bytes", why)
	case total == 0:
		e.verdict("swap", StatusOK, "none", why, "")
	case okFree && free < total:
		e.verdict("swap", StatusWarn, fmt.Sprintf("%d MiB in use of %d", (total-free)>>20, total>>20), why, "swapoff -a during the collection")
	default:
		e.verdict("swap", StatusOK, fmt.Sprintf("%d MiB, none in use", total>>20), why, "")
	}
}

func (e *examination) memory() {
	const why = "without free memory the kernel reclaims pages of the processes that are measured"
	available, ok := e.number("memory.available_bytes")
	if !ok {
		e.unknown("memory", "memory.available_bytes", why)
		return
	}
	if limit, limited := e.number("cgroup.memory_max_bytes"); limited {
		available = min(available, limit)
	}
	found := fmt.Sprintf("%d MiB available", available>>20)
	if e.needs.MemoryBytes > 0 {
		found += fmt.Sprintf(", %d MiB needed", e.needs.MemoryBytes>>20)
	}
	switch {
	case available < e.needs.MemoryBytes:
		e.verdict("memory", StatusBad, found, why, "free memory, raise the limit of the container, or measure fewer samples in a process")
	case available < 256<<20:
		e.verdict("memory", StatusWarn, found, why, "free memory before the collection")
	default:
		e.verdict("memory", StatusOK, found, why, "")
	}
}

func (e *examination) load() {
	const why = "other busy programs take processors, caches and memory bandwidth from both arms, and not equally"
	load, ok := milli(e.value["load.1m"])
	if !ok || e.value["load.1m"] == "" {
		e.unknown("load", "load.1m", why)
		return
	}
	cpus, _, known := e.usableCPUs()
	found := e.value["load.1m"] + " in the last minute"
	switch {
	case known && load >= cpus*1000:
		e.verdict("load", StatusBad, found, why, "stop other programs, or wait until they are done")
	case load >= 200:
		e.verdict("load", StatusWarn, found, why, "stop other programs, or wait until they are done")
	default:
		e.verdict("load", StatusOK, found, why, "")
	}
}

func (e *examination) pressure() {
	const why = "pressure is the share of time in which some task was ready and had no processor, or waited for memory or storage"
	status, found, any := StatusOK, []string{}, false
	for _, resource := range []string{"cpu", "memory", "io"} {
		text := e.value["pressure."+resource+"_some_avg10_pct"]
		if text == "" {
			continue
		}
		any = true
		found = append(found, resource+" "+text+" %")
		if share, ok := milli(text); ok && share >= 20_000 {
			status = StatusBad
		} else if ok && share >= 1000 && status == StatusOK {
			status = StatusWarn
		}
	}
	if !any {
		e.unknown("pressure", "pressure.cpu_some_avg10_pct", why)
		return
	}
	e.verdict("pressure", status, strings.Join(found, ", "), why, "stop other programs, or wait until they are done")
}

func (e *examination) steal() {
	const why = "stolen time is when the hypervisor ran another guest: the process stood still and its clock did not"
	text := e.value["cpu.steal_pct"]
	if text == "" {
		e.unknown("steal", "cpu.steal_pct", why)
		return
	}
	share, ok := milli(text)
	switch {
	case !ok:
		e.unknown("steal", "cpu.steal_pct", why)
	case share >= 5000:
		e.verdict("steal", StatusBad, text+" % since the start of the system", why, "use a machine, or a guest with processors of its own")
	case share >= 100:
		e.verdict("steal", StatusWarn, text+" % since the start of the system", why, "use a machine, or a guest with processors of its own")
	default:
		e.verdict("steal", StatusOK, text+" % since the start of the system", why, "")
	}
}

func (e *examination) clock() {
	const why = "every latency is two readings of this clock; a slow source costs microseconds a reading and a system call"
	switch source := e.value["clock.source"]; source {
	case "":
		e.unknown("clock_source", "clock.source", why)
	case "tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "mach_absolute_time":
		e.verdict("clock_source", StatusOK, source, why, "")
	case "hpet", "acpi_pm", "jiffies", "refined-jiffies", "xen":
		mend := "the kernel gave up a faster source, its log says why; clocksource=tsc on the kernel command line"
		if available := e.value["clock.sources_available"]; available != "" {
			mend += " (available: " + available + ")"
		}
		e.verdict("clock_source", StatusBad, source, why, mend)
	default:
		e.verdict("clock_source", StatusWarn, source+", whose cost is not known here", why, "compare calibration.clock_read_ns with the latencies")
	}
}

func (e *examination) power() {
	const why = "on battery most machines lower their frequency, more so as it runs down"
	switch e.value["power.source"] {
	case "":
		e.unknown("battery", "power.source", why)
	case "battery":
		e.verdict("battery", StatusBad, "on battery, "+e.value["power.battery"], why, "connect the power supply")
	default:
		e.verdict("battery", StatusOK, e.value["power.source"], why, "")
	}
}

func (e *examination) thermal() {
	const why = "a hot processor slows itself down, and the second process of a pair is hotter than the first"
	temperature, ok := e.number("thermal.hottest_millicelsius")
	throttles, counted := e.number("thermal.throttle_count")
	if !ok && !counted {
		e.unknown("thermal", "thermal.hottest_millicelsius", why)
		return
	}
	var found []string
	status := StatusOK
	if ok {
		found = append(found, strconv.FormatInt(temperature/1000, 10)+" degrees Celsius")
		if temperature >= 85_000 {
			status = StatusWarn
		}
	}
	if counted {
		found = append(found, fmt.Sprintf("slowed down %d times since the start of the system", throttles))
		if throttles > 0 {
			status = StatusWarn
		}
	}
	e.verdict("thermal", status, strings.Join(found, ", "), why, "let it cool down, improve the cooling, or switch turbo off")
}

func (e *examination) openFiles() {
	const why = "each connection is an open file, in the client and in the server; beyond the limit connections fail"
	text := e.value["limits.open_files_soft"]
	limit, ok := e.number("limits.open_files_soft")
	switch {
	case text == "unlimited":
		e.verdict("open_files", StatusOK, text, why, "")
	case !ok:
		e.unknown("open_files", "limits.open_files_soft", why)
	case limit < e.needs.OpenFiles:
		e.verdict("open_files", StatusBad, fmt.Sprintf("%d, %d needed", limit, e.needs.OpenFiles), why, fmt.Sprintf("ulimit -n %d (hard limit %s)", e.needs.OpenFiles, e.value["limits.open_files_hard"]))
	case limit < 1024:
		e.verdict("open_files", StatusWarn, text, why, "ulimit -n 4096")
	case e.needs.OpenFiles > 0:
		e.verdict("open_files", StatusOK, fmt.Sprintf("%d, %d needed", limit, e.needs.OpenFiles), why, "")
	default:
		e.verdict("open_files", StatusOK, text, why, "")
	}
}

func (e *examination) localPorts() {
	const why = "each connection takes a local port and keeps it for a minute after its end; fresh processes with many connections can use them up, and then connections fail"
	ports, ok := e.number("network.local_ports")
	found := fmt.Sprintf("%d local ports", ports)
	switch {
	case !ok:
		e.unknown("local_ports", "network.local_ports", why)
	case ports < 4096:
		e.verdict("local_ports", StatusWarn, found, why, "sysctl net.ipv4.ip_local_port_range='32768 60999'")
	default:
		e.verdict("local_ports", StatusOK, found, why, "")
	}
}
