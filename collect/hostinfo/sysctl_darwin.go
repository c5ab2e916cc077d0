package hostinfo

import (
	"encoding/binary"
	"strconv"

	"golang.org/x/sys/unix"
)

// load1Milli returns the one-minute load times 1000: vm.loadavg is three 32-bit
// numbers and, aligned to eight bytes, the scale that they are multiples of.
func load1Milli() (int64, bool) {
	b, err := unix.SysctlRaw("vm.loadavg")
	if err != nil || len(b) < 24 {
		return 0, false
	}
	scale := binary.LittleEndian.Uint64(b[16:])
	if scale == 0 {
		return 0, false
	}
	return int64(uint64(binary.LittleEndian.Uint32(b)) * 1000 / scale), true
}

// darwinSwap reads vm.swapusage: total, available and used bytes.
func (c *collector) darwinSwap() {
	b, err := unix.SysctlRaw("vm.swapusage")
	if err != nil || len(b) < 24 {
		c.absent("swap.total_bytes", "vm.swapusage", "the system does not tell")
		c.absent("swap.free_bytes", "vm.swapusage", "the system does not tell")
		return
	}
	c.add("swap.total_bytes", strconv.FormatUint(binary.LittleEndian.Uint64(b), 10), "bytes", "vm.swapusage")
	c.add("swap.free_bytes", strconv.FormatUint(binary.LittleEndian.Uint64(b[8:]), 10), "bytes", "vm.swapusage")
}

func (c *collector) darwinLimits() {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		c.absent("limits.open_files_soft", "getrlimit", err.Error())
		return
	}
	c.add("limits.open_files_soft", strconv.FormatUint(limit.Cur, 10), "", "getrlimit")
	c.add("limits.open_files_hard", strconv.FormatUint(limit.Max, 10), "", "getrlimit")
}
