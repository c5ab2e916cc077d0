//go:build unix && !linux

package proc

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"
)

// PinSupported says whether this system can hold a process on processors.
const PinSupported = false

// systemState is empty: only the process group is known.
type systemState struct{}

// keep forks the process, waits for it and reaps it.
func (p *Process) keep(program string, started chan<- error) {
	if len(p.spec.CPUs) > 0 {
		started <- &StartError{Kind: StartCPUs, Err: errors.ErrUnsupported}
		return
	}
	if p.spec.RSS == RSSByLauncher {
		started <- &StartError{Kind: StartOther, Err: errors.ErrUnsupported}
		return
	}
	p.started = time.Now()
	pid, err := syscall.ForkExec(program, p.spec.Argv, &syscall.ProcAttr{
		Dir:   p.spec.Dir,
		Env:   append(append([]string(nil), p.spec.Env...), TokenEnv+"="+p.token),
		Files: p.files.descriptors(),
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	p.pid, p.programPid = pid, pid
	started <- err
	if err != nil {
		return
	}
	defer close(p.gone)
	var status syscall.WaitStatus
	var usage syscall.Rusage
	_, err = syscall.Wait4(pid, &status, 0, &usage)
	for err == syscall.EINTR {
		_, err = syscall.Wait4(pid, &status, 0, &usage)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	p.kept.WallNs = time.Since(p.started).Nanoseconds()
	if err != nil {
		return
	}
	p.kept.setStatus(status)
	p.kept.setUsage(usage)
	if runtime.GOOS == "darwin" {
		p.kept.Peak = &PeakRSS{Bytes: usage.Maxrss, Source: SourceDarwin}
	}
}

// readSnapshot has only the wall clock: without cgo the system tells no more
// of another process.
func (p *Process) readSnapshot() (Snapshot, error) {
	return Snapshot{WallNs: time.Since(p.started).Nanoseconds()}, nil
}

func (p *Process) signalAll(signal syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		syscall.Kill(-p.pid, signal)
	}
}

// sweep ends what is left of the process group.
func (p *Process) sweep() { syscall.Kill(-p.pid, syscall.SIGKILL) }

// sampleFile makes the file for fd 5 without a name: the writer's end, and a
// view with an offset of its own for the reader.
func sampleFile() (write, read *os.File, err error) {
	write, err = os.CreateTemp("", "pairbench-samples-*")
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(write.Name())
	read, err = os.Open(write.Name())
	if err != nil {
		write.Close()
		return nil, nil, err
	}
	return write, read, nil
}
