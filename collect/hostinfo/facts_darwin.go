package hostinfo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// systemFacts asks sysctl. What macOS keeps behind private interfaces is a
// recorded absence.
func (c *collector) systemFacts(context.Context) {
	c.add("machine.arch", runtime.GOARCH, "", "runtime.GOARCH")
	c.add("kernel.name", runtime.GOOS, "", "runtime.GOOS")
	c.add("go.version", runtime.Version(), "", "runtime.Version")
	for _, f := range []struct{ fact, name string }{
		{"cpu.model", "machdep.cpu.brand_string"},
		{"cpu.vendor", "machdep.cpu.vendor"},
		{"machine.product", "hw.model"},
		{"kernel.release", "kern.osrelease"},
		{"kernel.version", "kern.version"},
		{"os.version", "kern.osproductversion"},
		{"os.build", "kern.osversion"},
	} {
		c.text(f.fact, f.name)
	}
	c.add("os.id", "macos", "", "runtime.GOOS")
	if version, err := unix.Sysctl("kern.osproductversion"); err == nil {
		c.add("os.name", "macOS "+version, "", "kern.osproductversion")
	} else {
		c.absent("os.name", "kern.osproductversion", err.Error())
	}
	if id, err := unix.Sysctl("kern.uuid"); err == nil && id != "" {
		sum := sha256.Sum256([]byte("pairbench machine\n" + id))
		c.add("machine.id_sha256", hex.EncodeToString(sum[:]), "", "kern.uuid")
	} else {
		c.absent("machine.id_sha256", "kern.uuid", "the system does not tell")
	}
	for _, f := range []struct{ fact, name, unit string }{
		{"cpu.logical", "hw.logicalcpu", ""},
		{"cpu.cores", "hw.physicalcpu", ""},
		{"cpu.packages", "hw.packages", ""},
		{"cpu.performance_cores", "hw.perflevel0.physicalcpu", ""},
		{"cpu.efficiency_cores", "hw.perflevel1.physicalcpu", ""},
		{"limits.system_open_files", "kern.maxfiles", ""},
	} {
		c.number32(f.fact, f.name, f.unit)
	}
	for _, f := range []struct{ fact, name, unit string }{
		{"memory.total_bytes", "hw.memsize", "bytes"},
		{"cpu.cache.l1d_bytes", "hw.l1dcachesize", "bytes"},
		{"cpu.cache.l1i_bytes", "hw.l1icachesize", "bytes"},
		{"cpu.cache.l2_bytes", "hw.l2cachesize", "bytes"},
		{"cpu.cache.l3_bytes", "hw.l3cachesize", "bytes"},
	} {
		c.number64(f.fact, f.name, f.unit)
	}
	switch guest, err := unix.SysctlUint32("kern.hv_vmm_present"); {
	case err != nil:
		c.absent("machine.virtualisation", "kern.hv_vmm_present", err.Error())
	case guest == 1:
		c.add("machine.virtualisation", "hypervisor", "", "kern.hv_vmm_present")
	default:
		c.add("machine.virtualisation", "none seen", "", "kern.hv_vmm_present")
	}
	if load, ok := load1Milli(); ok {
		c.add("load.1m", fmt.Sprintf("%d.%03d", load/1000, load%1000), "", "vm.loadavg")
	} else {
		c.absent("load.1m", "vm.loadavg", "the system does not tell")
	}
	c.darwinSwap()
	c.darwinLimits()
	c.add("clock.source", "mach_absolute_time", "", "runtime.GOOS")
	c.add("libc.version", "libSystem of this build", "", "runtime.GOOS")
	c.add("kernel.aslr", "on", "", "macOS has no setting that turns it off for all programs")
	for fact, reason := range map[string]string{
		"cpu.governor":                 "macOS has no governor",
		"cpu.frequency_khz":            "macOS tells it only through private interfaces",
		"cpu.turbo":                    "macOS has no such setting",
		"cpu.microcode":                "not provided by this system",
		"cpu.steal_pct":                "macOS does not count stolen time",
		"cpu.perf_counters":            "macOS shows them only through private interfaces",
		"cpu.mitigations":              "not provided by this system",
		"memory.thp":                   "macOS has no such setting",
		"pressure.cpu_some_avg10_pct":  "macOS has no pressure information of this kind",
		"cgroup.version":               "macOS has no control groups",
		"numa.nodes":                   "macOS machines have one node",
		"power.source":                 "macOS tells it only through IOKit",
		"thermal.hottest_millicelsius": "macOS tells it only through private interfaces",
		"kernel.cmdline":               "not recorded on this system",
	} {
		c.absent(fact, runtime.GOOS, reason)
	}
}

func (c *collector) text(fact, name string) {
	value, err := unix.Sysctl(name)
	if err != nil {
		c.absent(fact, name, err.Error())
		return
	}
	c.add(fact, value, "", name)
}

func (c *collector) number32(fact, name, unit string) {
	value, err := unix.SysctlUint32(name)
	if err != nil {
		c.absent(fact, name, err.Error())
		return
	}
	c.add(fact, strconv.FormatUint(uint64(value), 10), unit, name)
}

func (c *collector) number64(fact, name, unit string) {
	value, err := unix.SysctlUint64(name)
	if err != nil {
		c.absent(fact, name, err.Error())
		return
	}
	c.add(fact, strconv.FormatUint(value, 10), unit, name)
}
