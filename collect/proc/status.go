package proc

import "syscall"

func (e *Exit) setStatus(status syscall.WaitStatus) {
	if status.Signaled() {
		signal := int32(status.Signal())
		e.Signal = &signal
		e.CoreDumped = status.CoreDump()
		return
	}
	code := int32(status.ExitStatus())
	e.ExitCode = &code
}

func (e *Exit) setUsage(usage syscall.Rusage) {
	e.CPUUserNs = usage.Utime.Nano()
	e.CPUSystemNs = usage.Stime.Nano()
	e.CPUNs = e.CPUUserNs + e.CPUSystemNs
	e.VoluntarySwitches = int64(usage.Nvcsw)
	e.InvoluntarySwitches = int64(usage.Nivcsw)
	e.MajorFaults = int64(usage.Majflt)
}
