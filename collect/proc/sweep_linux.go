package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxNames bounds Exit.LeftoverNames.
const maxNames = 8

// systemState is what Linux needs to know of a process beyond its number.
type systemState struct {
	// traced says that the keeper's thread is the tracer.
	traced bool
	// report is the launcher's pipe and floor its own peak; nil without one.
	report *os.File
	floor  int64
	// startTicks is the start of the process in clock ticks since boot: nothing
	// older descends from it.
	startTicks int64
	// killed are the processes that the collector has sent SIGKILL, by number
	// with their start.
	killed map[int]int64
}

// entry is one line of /proc/PID/stat, as far as it is needed.
type entry struct {
	pid, parent, group, session int
	state                       byte
	start                       int64
	name                        string
}

func (e entry) alive() bool { return e.state != 'Z' && e.state != 'X' }

// members lists what descends from the process, the process itself included
// while it is there, zombies included. What makes a member, in this order: it
// is in the process's session or group; its parent is a member; it carries the
// process's token; or it is an orphan that the kernel gave to the collector. An
// orphan is told from the collector's own children by its session, which is
// never the collector's, because the process began one of its own; and from
// other processes of this package by their token.
func (p *Process) members() []entry {
	all := scan(p.startTicks)
	self := os.Getpid()
	ownSession, _ := unix.Getsid(0)
	member := make(map[int]bool)
	for _, e := range all {
		if e.session == p.pid || e.group == p.pid || e.pid == p.pid {
			member[e.pid] = true
			continue
		}
		if e.pid == self || e.session == ownSession {
			continue
		}
		switch token := tokenOf(e.pid); token {
		case p.token:
			member[e.pid] = true
		case "":
			member[e.pid] = e.parent == self
		}
	}
	for grown := true; grown; {
		grown = false
		for _, e := range all {
			if !member[e.pid] && member[e.parent] {
				member[e.pid] = true
				grown = true
			}
		}
	}
	var found []entry
	for _, e := range all {
		if member[e.pid] {
			found = append(found, e)
		}
	}
	return found
}

// signalAll sends a signal to every member that is alive.
func (p *Process) signalAll(signal syscall.Signal) {
	p.mu.Lock()
	if !p.reaped {
		syscall.Kill(-p.pid, signal)
	}
	p.mu.Unlock()
	p.signalEach(p.members(), signal)
}

// signalEach signals by group, which the kernel does in one step, so that a
// group whose members fork without end is caught whole; the group of a zombie
// may have a member that was forked since. A member's group is never the
// collector's, because its session is not.
func (p *Process) signalEach(members []entry, signal syscall.Signal) {
	signalled := make(map[int]bool)
	for _, e := range members {
		if signal == syscall.SIGKILL {
			p.killed[e.pid] = e.start
		}
		// Group 0 would be the collector's own.
		if e.group > 1 && !signalled[e.group] {
			syscall.Kill(-e.group, signal)
			signalled[e.group] = true
		}
	}
}

// sweep ends what is left when the process itself is reaped, and reaps the
// orphans. It returns when nothing is left or endDeadline has passed.
func (p *Process) sweep() {
	var leftovers int64
	self := os.Getpid()
	deadline := time.Now().Add(endDeadline)
	pause := 200 * time.Microsecond
	for first := true; ; first = false {
		found := p.members()
		if len(found) == 0 {
			break
		}
		for _, e := range found {
			// A zombie of the first look may have died before the process did; one
			// that comes later has outlived it.
			if start, ok := p.killed[e.pid]; ok && start == e.start || first && !e.alive() {
				continue
			}
			leftovers++
			if len(p.exit.LeftoverNames) < maxNames {
				p.exit.LeftoverNames = append(p.exit.LeftoverNames, e.name)
			}
		}
		p.signalEach(found, syscall.SIGKILL)
		for _, e := range found {
			if !e.alive() && e.parent == self {
				p.reapOrphan(e.pid)
			}
		}
		if time.Now().After(deadline) {
			p.exit.Remaining = int64(len(found))
			break
		}
		// Nothing tells when an orphan's death has been carried out, so look
		// again, soon at first.
		time.Sleep(pause)
		pause = min(2*pause, 10*time.Millisecond)
	}
	p.exit.Leftovers = &leftovers
}

func (p *Process) reapOrphan(pid int) {
	var status syscall.WaitStatus
	var usage syscall.Rusage
	if reaped, err := syscall.Wait4(pid, &status, syscall.WNOHANG, &usage); err == nil && reaped == pid {
		p.exit.LeftoverCPUNs += usage.Utime.Nano() + usage.Stime.Nano()
	}
}

// scan lists the processes that began at or after the given tick.
func scan(since int64) []entry {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var found []entry
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e, ok := readStat(pid); ok && e.start >= since {
			found = append(found, e)
		}
	}
	return found
}

func startTicks(pid int) int64 {
	e, _ := readStat(pid)
	return e.start
}

// readStat reads one entry. The command name stands in brackets and may itself
// hold brackets and spaces, so fields count from the last bracket.
func readStat(pid int) (entry, bool) {
	line, ok := readSmall("/proc/" + strconv.Itoa(pid) + "/stat")
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if !ok || open < 0 || end < open || end+2 > len(line) {
		return entry{}, false
	}
	fields := bytes.Fields(line[end+1:])
	const startField = 19
	if len(fields) <= startField {
		return entry{}, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(string(fields[i]))
		return n
	}
	return entry{
		pid: pid, name: string(line[open+1 : end]), state: fields[0][0],
		parent: number(1), group: number(2), session: number(3), start: int64(number(startField)),
	}, true
}

// tokenOf returns the token in a process's environment; empty where there is
// none or it may not be read.
func tokenOf(pid int) string {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for variable := range bytes.SplitSeq(env, []byte{0}) {
		if token, ok := bytes.CutPrefix(variable, []byte(TokenEnv+"=")); ok {
			return string(token)
		}
	}
	return ""
}

// readSmall reads a file of at most a page without the bookkeeping of os.File.
func readSmall(path string) ([]byte, bool) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	buffer := make([]byte, 1024)
	n, err := unix.Read(fd, buffer)
	if err != nil || n <= 0 {
		return nil, false
	}
	return buffer[:n], true
}
