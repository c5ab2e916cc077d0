package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// loopConn is a connection whose Read and Write suspend the task's coroutine
// instead of blocking the thread. Deadlines are not supported: the engine limits
// requests itself.
type loopConn struct {
	task   *task
	fd     int
	local  net.Addr
	remote net.Addr
	// readable and writable hold until a call finds the contrary: epoll reports
	// edges. ended says that the peer has closed; no further edge will come.
	readable, writable, ended bool
	closed                    bool
}

func dialSuspending(ctx context.Context, t *task, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	plain, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	fd, err := duplicate(plain)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	c := &loopConn{task: t, fd: fd, local: plain.LocalAddr(), remote: plain.RemoteAddr(), writable: true}
	if err := syscall.SetNonblock(c.fd, true); err != nil {
		syscall.Close(c.fd)
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	l := t.loop
	l.conns = append(l.conns, c)
	event := syscall.EpollEvent{Events: epollInterest, Fd: int32(len(l.conns) - 1)}
	if err := syscall.EpollCtl(l.epfd, syscall.EPOLL_CTL_ADD, c.fd, &event); err != nil {
		syscall.Close(c.fd)
		c.closed = true
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	return c, nil
}

// duplicate returns a descriptor of the connection that Go's own poller does not
// know.
func duplicate(c net.Conn) (int, error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return -1, errors.New("connection has no descriptor")
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return -1, err
	}
	var fd uintptr
	var errno syscall.Errno
	err = raw.Control(func(original uintptr) {
		fd, _, errno = syscall.Syscall(syscall.SYS_FCNTL, original, syscall.F_DUPFD_CLOEXEC, 0)
	})
	if err == nil && errno != 0 {
		err = errno
	}
	return int(fd), err
}

func (c *loopConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if c.closed {
			return 0, net.ErrClosed
		}
		if !c.readable {
			if err := c.suspend(true); err != nil {
				return 0, err
			}
			continue
		}
		n, errno := rawRead(c.fd, p)
		switch {
		case errno == syscall.EAGAIN:
			c.readable = false
		case errno == syscall.EINTR:
		case errno != 0:
			return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.local, Addr: c.remote, Err: errno}
		case n == 0:
			return 0, io.EOF
		default:
			// A short read has emptied the socket, so the next bytes are an edge.
			if n < len(p) && !c.ended {
				c.readable = false
			}
			return n, nil
		}
	}
}

func (c *loopConn) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		if c.closed {
			return written, net.ErrClosed
		}
		if !c.writable {
			if err := c.suspend(false); err != nil {
				return written, err
			}
			continue
		}
		n, errno := rawWrite(c.fd, p[written:])
		switch {
		case errno == syscall.EAGAIN:
			c.writable = false
		case errno == syscall.EINTR:
		case errno != 0:
			return written, &net.OpError{Op: "write", Net: "tcp", Source: c.local, Addr: c.remote, Err: errno}
		default:
			written += n
		}
	}
	return written, nil
}

// suspend gives the thread back to the loop until the connection is ready.
func (c *loopConn) suspend(forRead bool) error {
	t := c.task
	if t.stopped {
		return errStopped
	}
	t.awaits, t.forRead = c, forRead
	ok := t.yield(struct{}{})
	t.awaits = nil
	if !ok || t.stopped {
		t.stopped = true
		return errStopped
	}
	return nil
}

func (c *loopConn) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	return syscall.Close(c.fd)
}

func (c *loopConn) LocalAddr() net.Addr  { return c.local }
func (c *loopConn) RemoteAddr() net.Addr { return c.remote }

// The deadlines of a suspending connection are kept by the engine, which limits
// the whole request; the libraries' own are set to none.
func (c *loopConn) SetDeadline(time.Time) error      { return nil }
func (c *loopConn) SetReadDeadline(time.Time) error  { return nil }
func (c *loopConn) SetWriteDeadline(time.Time) error { return nil }

// SyscallConn lets the libraries' pools ask whether an idle connection is still
// alive. What epoll has already said answers it without a call of the system.
func (c *loopConn) SyscallConn() (syscall.RawConn, error) {
	if c.closed {
		return nil, net.ErrClosed
	}
	return rawConn{c}, nil
}

type rawConn struct{ c *loopConn }

func (r rawConn) Control(f func(fd uintptr)) error {
	f(uintptr(r.c.fd))
	return nil
}

func (r rawConn) Read(f func(fd uintptr) bool) error {
	if r.c.readable || r.c.ended {
		f(uintptr(r.c.fd))
	}
	return nil
}

func (r rawConn) Write(f func(fd uintptr) bool) error {
	f(uintptr(r.c.fd))
	return nil
}
