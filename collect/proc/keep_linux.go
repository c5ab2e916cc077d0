package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// PinSupported says whether this system can hold a process on processors.
const PinSupported = true

// keep forks the process, waits for it and reaps it, all on one thread: the
// kernel ties a tracer and the death signal of a parent to a thread. The thread
// holds the affinity only while it forks.
func (p *Process) keep(program string, started chan<- error) {
	runtime.LockOSThread()
	restored, err := p.fork(program)
	if restored {
		// A thread that could not be given its old affinity is not unlocked: it
		// ends with this goroutine.
		defer runtime.UnlockOSThread()
	}
	started <- err
	if err != nil {
		return
	}
	defer close(p.gone)
	p.reap()
}

func (p *Process) fork(program string) (restored bool, err error) {
	var own unix.CPUSet
	if len(p.spec.CPUs) > 0 {
		if err := unix.SchedGetaffinity(0, &own); err != nil {
			return true, fmt.Errorf("read the collector's affinity: %w", err)
		}
		var wanted unix.CPUSet
		for _, cpu := range p.spec.CPUs {
			wanted.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &wanted); err != nil {
			return true, &StartError{Kind: StartCPUs, Err: fmt.Errorf("run on processors %s: %w", FormatCPUs(p.spec.CPUs), err)}
		}
		// The kernel drops processors that do not exist, in silence.
		var held unix.CPUSet
		if err := unix.SchedGetaffinity(0, &held); err != nil || held != wanted {
			restored = unix.SchedSetaffinity(0, &own) == nil
			return restored, &StartError{Kind: StartCPUs, Err: fmt.Errorf("run on processors %s: only %s are available",
				FormatCPUs(p.spec.CPUs), FormatCPUs(cpuList(held)))}
		}
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return true, fmt.Errorf("become the reaper of orphans: %w", err)
	}
	// What the collector inherited from its own parent is not the process's:
	// descriptors without the close-on-exec flag are given it. Kernels before
	// 5.11 cannot, and leave it.
	unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	attr := &syscall.ProcAttr{
		Dir:   p.spec.Dir,
		Env:   append(append([]string(nil), p.spec.Env...), TokenEnv+"="+p.token),
		Files: p.files.descriptors(),
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	err = p.launch(program, attr)
	if len(p.spec.CPUs) > 0 {
		restored = unix.SchedSetaffinity(0, &own) == nil
	} else {
		restored = true
	}
	return restored, err
}

// launch forks in the way that the RSS method needs.
func (p *Process) launch(program string, attr *syscall.ProcAttr) error {
	p.started = time.Now()
	var err error
	switch p.spec.RSS {
	case RSSByLauncher:
		err = p.launchBelow(program, attr)
	case RSSAtExit:
		err = p.launchTraced(program, attr)
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
			p.started = time.Now()
			err = p.launchBelow(program, attr)
		}
	default:
		p.pid, err = syscall.ForkExec(program, p.spec.Argv, attr)
	}
	if err != nil {
		return err
	}
	if p.programPid == 0 {
		p.programPid = p.pid
	}
	// A core file could hold secrets, and fills the disk.
	unix.Prlimit(p.programPid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	p.startTicks = startTicks(p.pid)
	p.killed = make(map[int]int64)
	return nil
}

// launchTraced starts the program under this thread as its tracer, and lets it
// go on from its first instruction, to stop again at its exit.
func (p *Process) launchTraced(program string, attr *syscall.ProcAttr) error {
	traced := *attr
	sys := *attr.Sys
	sys.Ptrace = true
	traced.Sys = &sys
	var err error
	if p.pid, err = syscall.ForkExec(program, p.spec.Argv, &traced); err != nil {
		return err
	}
	var status syscall.WaitStatus
	_, err = syscall.Wait4(p.pid, &status, 0, nil)
	if err == nil {
		err = unix.PtraceSetOptions(p.pid, unix.PTRACE_O_TRACEEXIT|unix.PTRACE_O_TRACEEXEC|unix.PTRACE_O_EXITKILL)
	}
	if err == nil {
		err = unix.PtraceCont(p.pid, 0)
	}
	if err != nil {
		p.discard()
		return fmt.Errorf("trace the program: %w", err)
	}
	p.traced = true
	return nil
}

// discard ends and reaps a process that did not come to be.
func (p *Process) discard() {
	syscall.Kill(p.pid, syscall.SIGKILL)
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(p.pid, &status, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// The values of si_code for a child, from the kernel's interface.
const (
	cldExited = 1
	cldDumped = 3
)

// reap waits for the end, reads what only a process that is not yet reaped can
// tell, and reaps.
func (p *Process) reap() {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || info.Code >= cldExited && info.Code <= cldDumped {
			break
		}
		p.stopped()
	}
	wall := time.Since(p.started)
	p.mu.Lock()
	defer p.mu.Unlock()
	clock, clockErr := cpuClock(p.pid)
	var status syscall.WaitStatus
	var usage syscall.Rusage
	_, err := syscall.Wait4(p.pid, &status, 0, &usage)
	for err == syscall.EINTR {
		_, err = syscall.Wait4(p.pid, &status, 0, &usage)
	}
	p.reaped = true
	p.kept.WallNs = wall.Nanoseconds()
	if err == nil {
		p.kept.setStatus(status)
		p.kept.setUsage(usage)
	}
	if p.report != nil {
		p.readReport()
	} else if clockErr == nil && clock > p.kept.CPUNs {
		p.kept.CPUNs = clock
	}
}

// stopped handles one stop of the process. Without a tracer a stop is the
// process's own affair; the notice is taken so that the next one is seen.
func (p *Process) stopped() {
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(p.pid, &status, syscall.WUNTRACED|syscall.WNOHANG, nil); err != nil || pid != p.pid || !status.Stopped() {
		return
	}
	if !p.traced {
		return
	}
	signal := int(status.StopSignal())
	if signal == int(syscall.SIGTRAP) {
		signal = 0
		if status.TrapCause() == unix.PTRACE_EVENT_EXIT {
			if peak, err := peakRSS(p.pid); err == nil {
				p.kept.Peak = &PeakRSS{Bytes: peak, Source: SourcePtrace}
			}
		}
	}
	unix.PtraceCont(p.pid, signal)
}

// cpuClock reads the CPU clock of a process, which it keeps until it is reaped.
func cpuClock(pid int) (int64, error) {
	const cpuClockSched = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|cpuClockSched, &t); err != nil {
		return 0, fmt.Errorf("read the CPU clock: %w", err)
	}
	return t.Nano(), nil
}

func peakRSS(pid int) (int64, error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(status), "\nVmHWM:")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 2 || fields[1] != "kB" {
		return 0, fmt.Errorf("/proc/%d/status has no VmHWM", pid)
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/%d/status: VmHWM: %w", pid, err)
	}
	return kib << 10, nil
}

// readSnapshot is called with mu held and the process not yet reaped. A
// process that is a zombie already has no memory to speak of: that is an error.
func (p *Process) readSnapshot() (Snapshot, error) {
	s := Snapshot{WallNs: time.Since(p.started).Nanoseconds()}
	clock, err := cpuClock(p.programPid)
	if err != nil {
		return s, err
	}
	s.CPUNs = &clock
	peak, err := peakRSS(p.programPid)
	if err != nil {
		return s, err
	}
	s.Peak = &PeakRSS{Bytes: peak, Source: SourceSnapshot}
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(p.programPid) + "/task")
	if err != nil {
		return s, err
	}
	threads := int64(len(tasks))
	s.Threads = &threads
	var all unix.CPUSet
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			continue
		}
		var set unix.CPUSet
		if unix.SchedGetaffinity(tid, &set) != nil {
			continue // the thread has ended
		}
		for i := range all {
			all[i] |= set[i]
		}
	}
	s.CPUs = cpuList(all)
	return s, nil
}

func cpuList(set unix.CPUSet) []int {
	var cpus []int
	for cpu := 0; cpu < len(set)*64; cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// sampleFile makes the file for fd 5 in memory: the writer's end, and a view
// with an offset of its own for the reader.
func sampleFile() (write, read *os.File, err error) {
	fd, err := unix.MemfdCreate("pairbench-samples", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	write = os.NewFile(uintptr(fd), "samples")
	read, err = os.Open("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		write.Close()
		return nil, nil, err
	}
	return write, read, nil
}
