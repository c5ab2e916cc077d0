package echo

import "golang.org/x/sys/unix"

// processCPUNs reads the CPU clock of the process.
func processCPUNs() (int64, bool) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return t.Nano(), err == nil
}
