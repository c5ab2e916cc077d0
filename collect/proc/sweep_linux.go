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
	for _, e := range p.members() {
		if e.state != 'Z' && e.state != 'X' {
			p.signal(e, signal)
		}
	}
}

// signal sends a signal to the process that e describes and to no other that
// has come to its number since.
func (p *Process) signal(e entry, signal syscall.Signal) {
	fd, err := unix.PidfdOpen(e.pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if startTicks(e.pid) != e.start {
		return
	}
	if signal == syscall.SIGKILL {
		if p.killed == nil {
			p.killed = make(map[int]int64)
		}
		p.killed[e.pid] = e.start
	}
	unix.PidfdSendSignal(fd, signal, nil, 0)
}

// sweep ends what is left when the process itself is reaped, and reaps the
// orphans. It returns when nothing is left or endDeadline has passed.
func (p *Process) sweep() {
	var leftovers int64
	self := os.Getpid()
	deadline := time.Now().Add(endDeadline)
	pause := 200 * time.Microsecond
	for {
		found := p.members()
		alive := int64(0)
		for _, e := range found {
			if e.state == 'Z' || e.state == 'X' {
				if e.parent == self {
					p.reapOrphan(e.pid)
				}
				continue
			}
			alive++
			if start, ok := p.killed[e.pid]; !ok || start != e.start {
				leftovers++
				if len(p.exit.LeftoverNames) < maxNames {
					p.exit.LeftoverNames = append(p.exit.LeftoverNames, e.name)
				}
			}
			p.signal(e, syscall.SIGKILL)
		}
		if len(found) == 0 {
			break
		}
		if time.Now().After(deadline) {
			p.exit.Remaining = alive
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
