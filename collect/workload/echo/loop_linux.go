package echo

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loop is one set of events (one epoll instance) that any number of worker
// threads serve together. Every connection is registered once, edge-triggered:
// serving it costs no system call but its own reads and writes.
type loop struct {
	epoll, wake int
	conns       []*conn
	stopped     atomic.Bool
}

func newLoop() (*loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	l := &loop{epoll: epoll, wake: wake}
	if err := l.watch(wake, wakeEvent, unix.EPOLLIN); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// wakeEvent is the event number of wake; connections count from 0.
const wakeEvent = -1

func (l *loop) watch(fd, event int, events uint32) error {
	if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(event)}); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

// add takes over t, which is closed in any case.
func (l *loop) add(t *net.TCPConn) (*conn, error) {
	defer t.Close()
	raw, err := t.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, dupErr := -1, error(nil)
	err = raw.Control(func(own uintptr) { fd, dupErr = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, dupErr); err != nil {
		return nil, fmt.Errorf("duplicate descriptor: %w", err)
	}
	c := &conn{fd: fd}
	if err := l.watch(fd, len(l.conns), unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP|unix.EPOLLET); err != nil {
		unix.Close(fd)
		return nil, err
	}
	l.conns = append(l.conns, c)
	return c, nil
}

// run serves the connections with the given number of worker threads, after it
// has started those of starts, until stop.
func (l *loop) run(threads int, starts []*conn) {
	l.stopped.Store(false)
	var workers sync.WaitGroup
	for worker := range threads {
		workers.Go(func() {
			for i := worker; i < len(starts); i += threads {
				starts[i].signal()
			}
			l.serve(threads)
		})
	}
	workers.Wait()
	var count [8]byte
	unix.Read(l.wake, count[:])
}

// stop ends run; connections keep what they wait for.
func (l *loop) stop() {
	l.stopped.Store(true)
	one := [8]byte{1}
	unix.Write(l.wake, one[:])
}

// A thread alone takes all events that are ready, as Asio's reactor does; among
// several each takes few at a time, so that the others find some too.
const (
	aloneTakes  = 128
	sharedTakes = 4
)

func (l *loop) serve(threads int) {
	events := make([]unix.EpollEvent, aloneTakes)
	if threads > 1 {
		events = events[:sharedTakes]
	}
	for !l.stopped.Load() {
		n, err := pollEvents(l.epoll, events)
		if err == unix.EINTR {
			continue
		}
		if err != 0 {
			panic(fmt.Sprintf("epoll_wait on an epoll descriptor of our own: %v", err))
		}
		for _, e := range events[:n] {
			if e.Fd != wakeEvent {
				l.conns[e.Fd].signal()
			}
		}
	}
}

// pollEvents looks without sleeping first, which spares telling the Go
// scheduler about a call that will not block.
func pollEvents(epoll int, events []unix.EpollEvent) (int, syscall.Errno) {
	first := uintptr(unsafe.Pointer(unsafe.SliceData(events)))
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), first, uintptr(len(events)), 0, 0, 0)
	if n == 0 && errno == 0 {
		n, _, errno = unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), first, uintptr(len(events)), ^uintptr(0), 0, 0)
	}
	return int(n), errno
}

func (l *loop) close() {
	for _, c := range l.conns {
		unix.Close(c.fd)
	}
	unix.Close(l.wake)
	unix.Close(l.epoll)
}

// conn is one connection on a loop. It has at most one operation that waits,
// and at most one thread at a time acts on it: the one whose signal found it
// idle, until no further signal came in between.
type conn struct {
	fd      int
	signals atomic.Int64
	// start runs once, with the next signal, and leaves the first operation.
	start func()
	// unwind ends the connection's coroutine; nil where it has none.
	unwind func()
	// then is called when the operation is over; nil: no operation.
	then func(n int, err error)
	buf  []byte
	done int
	// writing tells a write, which ends when buf is written, from a read, which
	// ends with the first bytes.
	writing bool
	// empty says that the socket had nothing more to read, and no event since.
	empty bool
}

// signal has the connection go on as far as it can, on this thread or on the one
// that is at it.
func (c *conn) signal() {
	if c.signals.Add(1) != 1 {
		return
	}
	for {
		seen := c.signals.Load()
		c.empty = false
		c.proceed()
		if c.signals.CompareAndSwap(seen, 0) {
			return
		}
	}
}

// proceed carries out operations until one has to wait. Completion functions
// only leave the next operation behind, so they never nest.
func (c *conn) proceed() {
	if start := c.start; start != nil {
		c.start = nil
		start()
	}
	for c.then != nil {
		n, err := c.attempt()
		if err == unix.EAGAIN {
			return
		}
		then := c.then
		c.then = nil
		then(n, err)
	}
}

// read leaves a read behind: then gets the first bytes that come into buf.
func (c *conn) read(buf []byte, then func(n int, err error)) {
	c.buf, c.done, c.writing, c.then = buf, 0, false, then
}

// write leaves a write behind: then is called when all of buf is written.
func (c *conn) write(buf []byte, then func(n int, err error)) {
	c.buf, c.done, c.writing, c.then = buf, 0, true, then
}

// attempt takes the operation as far as the socket allows; EAGAIN says that it
// has to wait for an event.
func (c *conn) attempt() (int, error) {
	if c.writing {
		for c.done < len(c.buf) {
			n, errno := rawCall(unix.SYS_WRITE, c.fd, c.buf[c.done:])
			switch errno {
			case 0:
				c.done += n
			case unix.EINTR:
			default:
				return c.done, errno
			}
		}
		return c.done, nil
	}
	if c.empty {
		return 0, unix.EAGAIN
	}
	for {
		n, errno := rawCall(unix.SYS_READ, c.fd, c.buf)
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			c.empty = errno == unix.EAGAIN
			return 0, errno
		case n == 0:
			return 0, io.EOF
		default:
			c.empty = n < len(c.buf)
			return n, nil
		}
	}
}

// rawCall reads or writes a socket that does not block: the Go scheduler need
// not know.
func rawCall(call uintptr, fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}
