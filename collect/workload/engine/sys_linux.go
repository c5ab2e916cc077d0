package engine

import (
	"syscall"
	"unsafe"
)

const (
	clockMonotonic    = 1
	clockProcessCPU   = 2
	timerAbsolute     = 1
	prSetTimerSlack   = 29
	epollInterest     = syscall.EPOLLIN | syscall.EPOLLOUT | syscall.EPOLLRDHUP | epollEdge
	epollEdge         = 1 << 31
	eventfdNonblock   = 0x800
	eventfdCloexec    = 0x80000
	scheduleYield     = syscall.SYS_SCHED_YIELD
	epollWaitForEver  = -1
	epollDoNotWait    = 0
	epollBatch        = 64
	readableEvents    = syscall.EPOLLIN | syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR
	writableEvents    = syscall.EPOLLOUT | syscall.EPOLLHUP | syscall.EPOLLERR
	endOfStreamEvents = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR
)

// processCPUNs reads the CPU clock of the process.
func processCPUNs() (int64, bool) {
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockProcessCPU, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano(), errno == 0
}

// yieldThread lets another runnable thread of this processor go first.
func yieldThread() { syscall.RawSyscall(scheduleYield, 0, 0, 0) }

// pacer sleeps to absolute instants of the monotonic clock on the calling
// thread.
type pacer struct {
	clock clock
	// zeroNs is the system's monotonic time at the clock's zero.
	zeroNs int64
}

// newPacer asks for precise sleeps of the calling thread.
func newPacer(c clock) pacer {
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 1, 0)
	var ts syscall.Timespec
	before := c.now()
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	return pacer{clock: c, zeroNs: ts.Nano() - before}
}

// sleepUntil returns at the instant ns of the clock or shortly after.
func (p pacer) sleepUntil(ns int64) {
	ts := syscall.NsecToTimespec(p.zeroNs + ns)
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_CLOCK_NANOSLEEP, clockMonotonic, timerAbsolute, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

func rawRead(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}

func rawWrite(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}

// epollWait fills events. A wait that may sleep tells the Go scheduler, so that
// a garbage collection need not wait for the next reply; one that does not sleep
// spares that.
func epollWait(epfd int, events []syscall.EpollEvent, timeoutMs int) (int, syscall.Errno) {
	var n uintptr
	var errno syscall.Errno
	if timeoutMs == epollDoNotWait {
		n, _, errno = syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	} else {
		n, _, errno = syscall.Syscall6(syscall.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(timeoutMs), 0, 0)
	}
	return int(n), errno
}

func newEventfd() (int, error) {
	fd, _, errno := syscall.RawSyscall(syscall.SYS_EVENTFD2, 0, eventfdNonblock|eventfdCloexec, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func notify(eventfd int) {
	one := uint64(1)
	syscall.RawSyscall(syscall.SYS_WRITE, uintptr(eventfd), uintptr(unsafe.Pointer(&one)), 8)
}
