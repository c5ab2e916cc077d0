package hostinfo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// linuxFacts gathers every fact that Linux has in files.
func (c *collector) linuxFacts() {
	c.add("machine.arch", runtime.GOARCH, "", "runtime.GOARCH")
	c.file("machine.id_sha256", "", "/etc/machine-id", func(id string) (string, error) {
		if id == "" || id == "uninitialized" {
			return "", errNoValue
		}
		sum := sha256.Sum256([]byte("pairbench machine\n" + id))
		return hex.EncodeToString(sum[:]), nil
	})
	c.file("machine.vendor", "", "/sys/class/dmi/id/sys_vendor", nil)
	c.file("machine.product", "", "/sys/class/dmi/id/product_name", nil)
	c.processor()
	c.frequency()
	c.memory()
	c.numa()
	c.operatingSystem()
	c.activity()
	c.cgroup()
	c.limits()
	c.network()
	c.power()
	c.software()
}

// processor records model, topology and caches.
func (c *collector) processor() {
	const path = "/proc/cpuinfo"
	text, err := c.read(path)
	info := fields(text, ":")
	first := func(names ...string) string {
		for _, n := range names {
			if info[n] != "" {
				return info[n]
			}
		}
		return ""
	}
	named := func(fact, value string) {
		switch {
		case err != nil:
			c.absent(fact, path, reasonOf(err))
		case value == "":
			c.absent(fact, path, errNoValue.Error())
		default:
			c.add(fact, value, "", path)
		}
	}
	model := first("model name", "Model", "cpu model", "cpu")
	if model == "" && info["CPU part"] != "" {
		model = "implementer " + info["CPU implementer"] + " part " + info["CPU part"] + " variant " + info["CPU variant"] + " revision " + info["CPU revision"]
	}
	named("cpu.model", model)
	named("cpu.vendor", first("vendor_id", "CPU implementer"))
	named("cpu.microcode", info["microcode"])
	flags := strings.Fields(first("flags", "Features"))
	virtual := ""
	if err == nil {
		virtual = "none seen"
		if slices.Contains(flags, "hypervisor") {
			virtual = "hypervisor"
		}
	}
	if kind, err := c.read("/sys/hypervisor/type"); err == nil && kind != "" {
		virtual = kind
	}
	named("machine.virtualisation", virtual)

	c.file("cpu.online", "", "/sys/devices/system/cpu/online", nil)
	c.file("cpu.isolated", "", "/sys/devices/system/cpu/isolated", noneIfEmpty)
	c.file("cpu.nohz_full", "", "/sys/devices/system/cpu/nohz_full", noneIfEmpty)
	c.file("cpu.allowed", "", "/proc/self/status", func(text string) (string, error) {
		if cpus := fields(text, ":")["Cpus_allowed_list"]; cpus != "" {
			return cpus, nil
		}
		return "", errNoValue
	})
	c.topology()
	for _, index := range c.glob("/sys/devices/system/cpu/cpu0/cache/index[0-9]*") {
		level, _ := c.read(index + "/level")
		kind, _ := c.read(index + "/type")
		suffix := map[string]string{"Data": "d", "Instruction": "i", "Unified": ""}[kind]
		if level != "" {
			c.file("cpu.cache.l"+level+suffix+"_bytes", "bytes", index+"/size", kibibytes)
		}
	}
	var mitigations []string
	for _, path := range c.glob("/sys/devices/system/cpu/vulnerabilities/*") {
		if state, err := c.read(path); err == nil {
			mitigations = append(mitigations, path[strings.LastIndex(path, "/")+1:]+": "+state)
		}
	}
	slices.Sort(mitigations)
	c.joined("cpu.mitigations", mitigations, "/sys/devices/system/cpu/vulnerabilities")
	if len(c.glob("/sys/bus/event_source/devices/cpu*")) > 0 {
		c.file("cpu.perf_counters", "", "/proc/sys/kernel/perf_event_paranoid", func(level string) (string, error) {
			return "there, perf_event_paranoid " + level, nil
		})
	} else {
		c.absent("cpu.perf_counters", "/sys/bus/event_source/devices", "the processor shows no hardware counters to this system")
	}
}

// joined records a list as one fact.
func (c *collector) joined(name string, values []string, source string) {
	if len(values) == 0 {
		c.absent(name, source, "not provided by this system")
		return
	}
	c.add(name, strings.Join(values, "; "), "", source)
}

// topology counts threads, cores and packages.
func (c *collector) topology() {
	const source = "/sys/devices/system/cpu/cpu*/topology"
	cores, packages, threads := map[string]bool{}, map[string]bool{}, 0
	for _, cpu := range c.glob("/sys/devices/system/cpu/cpu[0-9]*") {
		core, err := c.read(cpu + "/topology/core_id")
		if err != nil {
			continue
		}
		pkg, _ := c.read(cpu + "/topology/physical_package_id")
		threads++
		packages[pkg] = true
		cores[pkg+"/"+core] = true
	}
	if threads == 0 {
		if text, err := c.read("/proc/cpuinfo"); err == nil {
			if n := strings.Count("\n"+text, "\nprocessor"); n > 0 {
				c.add("cpu.logical", strconv.Itoa(n), "", "/proc/cpuinfo")
			} else {
				c.absent("cpu.logical", "/proc/cpuinfo", errNoValue.Error())
			}
		} else {
			c.absent("cpu.logical", "/proc/cpuinfo", reasonOf(err))
		}
		c.absent("cpu.cores", source, "not provided by this system")
		c.absent("cpu.packages", source, "not provided by this system")
		c.absent("cpu.threads_per_core", source, "not provided by this system")
	} else {
		c.add("cpu.logical", strconv.Itoa(threads), "", source)
		c.add("cpu.cores", strconv.Itoa(len(cores)), "", source)
		c.add("cpu.packages", strconv.Itoa(len(packages)), "", source)
		c.add("cpu.threads_per_core", strconv.Itoa((threads+len(cores)-1)/len(cores)), "", source)
	}
	c.file("cpu.smt", "", "/sys/devices/system/cpu/smt/control", nil)
	c.file("cpu.smt_active", "", "/sys/devices/system/cpu/smt/active", nil)
}

// frequency records what decides the clock of the processor.
func (c *collector) frequency() {
	const dir = "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/"
	c.distinct("cpu.governor", "", dir+"scaling_governor")
	c.distinct("cpu.frequency_driver", "", dir+"scaling_driver")
	c.distinct("cpu.energy_preference", "", dir+"energy_performance_preference")
	c.distinct("cpu.frequency_min_khz", "kHz", dir+"scaling_min_freq")
	c.distinct("cpu.frequency_max_khz", "kHz", dir+"scaling_max_freq")
	if _, err := c.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"); err == nil {
		c.file("cpu.frequency_khz", "kHz", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", nil)
	} else {
		c.file("cpu.frequency_khz", "kHz", "/proc/cpuinfo", func(text string) (string, error) {
			mhz, err := strconv.ParseFloat(fields(text, ":")["cpu MHz"], 64)
			if err != nil || mhz <= 0 || mhz > 1e6 {
				return "", errNoValue
			}
			return strconv.FormatInt(int64(mhz*1000+0.5), 10), nil
		})
	}
	onOff := func(on string) func(string) (string, error) {
		return func(text string) (string, error) {
			switch {
			case text == on:
				return "on", nil
			case text == "0" || text == "1":
				return "off", nil
			}
			return "", errNoValue
		}
	}
	if _, err := c.read("/sys/devices/system/cpu/intel_pstate/no_turbo"); err == nil {
		c.file("cpu.turbo", "", "/sys/devices/system/cpu/intel_pstate/no_turbo", onOff("0"))
	} else {
		c.file("cpu.turbo", "", "/sys/devices/system/cpu/cpufreq/boost", onOff("1"))
	}
	c.file("cpu.idle_driver", "", "/sys/devices/system/cpu/cpuidle/current_driver", nil)
}

// memory records sizes, swap and huge pages.
func (c *collector) memory() {
	const path = "/proc/meminfo"
	for _, m := range []struct{ fact, field string }{
		{"memory.total_bytes", "MemTotal"},
		{"memory.available_bytes", "MemAvailable"},
		{"swap.total_bytes", "SwapTotal"},
		{"swap.free_bytes", "SwapFree"},
		{"memory.huge_page_bytes", "Hugepagesize"},
	} {
		c.file(m.fact, "bytes", path, func(text string) (string, error) { return kibibytes(fields(text, ":")[m.field]) })
	}
	c.file("memory.huge_pages", "", path, func(text string) (string, error) {
		if v := fields(text, ":")["HugePages_Total"]; v != "" {
			return v, nil
		}
		return "", errNoValue
	})
	c.file("swap.swappiness", "", "/proc/sys/vm/swappiness", nil)
	c.file("memory.thp", "", "/sys/kernel/mm/transparent_hugepage/enabled", selected)
	c.file("memory.thp_defrag", "", "/sys/kernel/mm/transparent_hugepage/defrag", selected)
	c.file("memory.ksm", "", "/sys/kernel/mm/ksm/run", nil)
	c.file("memory.overcommit", "", "/proc/sys/vm/overcommit_memory", nil)
}

// numa records the nodes and their processors.
func (c *collector) numa() {
	nodes := c.glob("/sys/devices/system/node/node[0-9]*")
	if len(nodes) == 0 {
		c.absent("numa.nodes", "/sys/devices/system/node", "not provided by this system")
		return
	}
	c.add("numa.nodes", strconv.Itoa(len(nodes)), "", "/sys/devices/system/node")
	for _, n := range nodes {
		c.file("numa."+n[strings.LastIndex(n, "/")+1:]+".cpus", "", n+"/cpulist", nil)
	}
	c.file("numa.balancing", "", "/proc/sys/kernel/numa_balancing", nil)
}

// operatingSystem records distribution and kernel.
func (c *collector) operatingSystem() {
	release := "/etc/os-release"
	if _, err := c.read(release); err != nil {
		release = "/usr/lib/os-release"
	}
	for _, f := range []struct{ fact, field string }{{"os.name", "PRETTY_NAME"}, {"os.id", "ID"}, {"os.version", "VERSION_ID"}} {
		c.file(f.fact, "", release, func(text string) (string, error) {
			if v := strings.Trim(fields(text, "=")[f.field], `"'`); v != "" {
				return v, nil
			}
			return "", errNoValue
		})
	}
	c.file("kernel.name", "", "/proc/sys/kernel/ostype", nil)
	c.file("kernel.release", "", "/proc/sys/kernel/osrelease", nil)
	c.file("kernel.version", "", "/proc/sys/kernel/version", nil)
	c.file("kernel.cmdline", "", "/proc/cmdline", redactCmdline)
	c.file("kernel.aslr", "", "/proc/sys/kernel/randomize_va_space", nil)
	c.file("kernel.nmi_watchdog", "", "/proc/sys/kernel/nmi_watchdog", nil)
	c.file("kernel.sched_autogroup", "", "/proc/sys/kernel/sched_autogroup_enabled", nil)
	c.file("clock.source", "", "/sys/devices/system/clocksource/clocksource0/current_clocksource", nil)
	c.file("clock.sources_available", "", "/sys/devices/system/clocksource/clocksource0/available_clocksource", nil)
	c.file("os.uptime_seconds", "s", "/proc/uptime", firstField)
}

func firstField(text string) (string, error) {
	f := strings.Fields(text)
	if len(f) == 0 {
		return "", errNoValue
	}
	return f[0], nil
}

// tellingArguments are the kernel arguments whose values decide speed and hold
// nothing private, as are those that start with one of tellingPrefixes. The
// values of all others are left out: they may be keys, addresses or serial
// numbers.
var tellingArguments = []string{
	"isolcpus", "nohz", "nohz_full", "rcu_nocbs", "rcu_nocb_poll", "irqaffinity", "mitigations",
	"spectre_v2", "spec_store_bypass_disable", "l1tf", "mds", "tsx", "nosmt", "maxcpus",
	"nr_cpus", "intel_pstate", "amd_pstate", "intel_idle.max_cstate", "processor.max_cstate",
	"idle", "cpuidle.off", "clocksource", "tsc", "hpet", "transparent_hugepage", "hugepages",
	"hugepagesz", "default_hugepagesz", "numa", "numa_balancing", "preempt", "skew_tick",
	"nowatchdog", "nmi_watchdog", "audit", "selinux", "apparmor", "iommu", "intel_iommu",
	"amd_iommu", "cgroup_disable", "systemd.unified_cgroup_hierarchy", "psi", "quiet", "ro", "rw",
	"threadirqs", "randomize_kstack_offset", "init_on_alloc", "init_on_free", "page_poison",
	"slub_debug", "pti", "kpti", "nopti", "nokaslr", "norandmaps", "vsyscall",
}

var tellingPrefixes = []string{"cpufreq.", "kvm"}

func telling(name string) bool {
	return slices.Contains(tellingArguments, name) || slices.ContainsFunc(tellingPrefixes, func(prefix string) bool {
		return strings.HasPrefix(name, prefix) && !strings.ContainsFunc(name, func(r rune) bool {
			return !strings.ContainsRune("._-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
	})
}

// redactCmdline keeps the names of the arguments and the values that matter.
// What follows -- goes to the first program, and is nobody's business.
func redactCmdline(text string) (string, error) {
	var kept []string
	for _, arg := range splitQuoted(text) {
		name, _, hasValue := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return strings.Join(append(kept, "-- (redacted)"), " "), nil
		case telling(name):
			kept = append(kept, arg)
		case strings.ContainsAny(name, "/:@\" \t"):
			kept = append(kept, "(redacted)")
		case hasValue:
			kept = append(kept, name+"=(redacted)")
		default:
			kept = append(kept, arg)
		}
	}
	return strings.Join(kept, " "), nil
}

// splitQuoted splits at blanks outside double quotes, as the kernel does.
func splitQuoted(text string) []string {
	quoted := false
	return strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t' || r == '\n')
	})
}

// noneIfEmpty is for lists whose emptiness says something.
func noneIfEmpty(text string) (string, error) {
	if text == "" || text == "(null)" {
		return "none", nil
	}
	return text, nil
}

// activity records what else the machine does.
func (c *collector) activity() {
	for i, fact := range []string{"load.1m", "load.5m", "load.15m"} {
		c.file(fact, "", "/proc/loadavg", func(text string) (string, error) {
			if f := strings.Fields(text); len(f) > i {
				return f[i], nil
			}
			return "", errNoValue
		})
	}
	for _, resource := range []string{"cpu", "memory", "io"} {
		c.file("pressure."+resource+"_some_avg10_pct", "%", "/proc/pressure/"+resource, func(text string) (string, error) {
			if v, ok := pressureField(text, "some", "avg10"); ok {
				return v, nil
			}
			return "", errNoValue
		})
	}
	c.file("cpu.steal_pct", "%", "/proc/stat", func(text string) (string, error) {
		ticks, ok := cpuTicks(text, -1)
		if !ok || ticks.total == 0 {
			return "", errNoValue
		}
		return fmt.Sprintf("%.3f", 100*float64(ticks.steal)/float64(ticks.total)), nil
	})
}

// software records libc and the Go runtime that this program runs on.
func (c *collector) software() {
	c.add("go.version", runtime.Version(), "", "runtime.Version")
	c.libc()
}

var glibcBanner = regexp.MustCompile(`GNU C Library \(([^)\n]+)\) [a-z]+ release version ([0-9.]+)`)

// libc finds the C library's own banner in its file.
func (c *collector) libc() {
	paths := append(c.glob("/lib/*-linux-gnu*/libc.so.6"), "/lib64/libc.so.6", "/lib/libc.so.6", "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6")
	for _, path := range paths {
		text, err := c.read(path)
		if err != nil {
			continue
		}
		if m := glibcBanner.FindStringSubmatch(text); m != nil {
			c.add("libc.version", "glibc "+strings.TrimSuffix(m[2], ".")+" ("+m[1]+")", "", path)
			return
		}
	}
	if musl := c.glob("/lib/ld-musl-*.so.1"); len(musl) > 0 {
		c.add("libc.version", "musl, version not in its file", "", musl[0])
		return
	}
	c.absent("libc.version", "libc.so.6", "no C library found in the usual places")
}
