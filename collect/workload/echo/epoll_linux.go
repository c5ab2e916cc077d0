package echo

import (
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"pairbench/collect/workload/engine"
)

// epollPool is the arms callback and coroutine: all connections, both sides, on
// one loop.
type epollPool struct {
	loop    *loop
	threads int
	clients []*client
	servers []*service
	active  atomic.Int64
}

// client is one connection's asking side.
type client struct {
	*exchange
	conn *conn
	// start begins a phase on the connection.
	start func()
	// finished says that the client has no more permits; it is called once a
	// phase, on a worker thread.
	finished func()
}

// newEpoll takes over ends, also when it fails.
func newEpoll(ends *endpoints, p params, seed int64) (pool, error) {
	l, err := newLoop()
	if err != nil {
		ends.close()
		return nil, err
	}
	e := &epollPool{loop: l, threads: p.threads}
	for id, t := range ends.server {
		c, err := l.add(t)
		if err != nil {
			ends.close()
			l.close()
			return nil, err
		}
		s := newService(p.size, p.work, id)
		e.servers = append(e.servers, s)
		buf := make([]byte, p.inFlight*p.size+1)
		if p.arm == engine.ArmCoroutine {
			c.start = spawn(c, func(co *coroutine) { answerInCoroutine(co, s, buf) })
		} else {
			c.start = answerInCallbacks(c, s, buf)
		}
	}
	for id, t := range ends.client {
		c, err := l.add(t)
		if err != nil {
			ends.close()
			l.close()
			return nil, err
		}
		x := &client{exchange: newExchange(p.inFlight, p.size, seed, id), conn: c, finished: e.finished}
		e.clients = append(e.clients, x)
		if p.arm == engine.ArmCoroutine {
			x.start = spawn(c, x.askInCoroutine)
		} else {
			x.start = x.askInCallbacks()
		}
	}
	return e, nil
}

func (e *epollPool) run(p *phase, stall time.Duration) {
	starts := make([]*conn, 0, len(e.loop.conns))
	e.active.Store(0)
	for _, c := range e.clients {
		c.phase = p
		if !c.dead {
			e.active.Add(1)
			c.conn.start = c.start
			starts = append(starts, c.conn)
		}
	}
	if len(starts) == 0 {
		return
	}
	done := make(chan struct{})
	go func() {
		e.loop.run(e.threads, starts)
		close(done)
	}()
	if !p.wait(done, stall) {
		p.stopped.Store(true)
		e.loop.stop()
		<-done
	}
	for _, c := range e.clients {
		c.abandon()
	}
}

// finished ends the phase with its last client.
func (e *epollPool) finished() {
	if e.active.Add(-1) == 0 {
		e.loop.stop()
	}
}

func (e *epollPool) check() error { return checkAll(e.servers) }

func (e *epollPool) describe(r map[string]string) {
	r["io"] = "one epoll, edge-triggered, shared by all threads"
}

func (e *epollPool) close() {
	// Coroutines must not be resumed on a locked thread, which the caller's may
	// be: they were made on threads that are not.
	var unwinding sync.WaitGroup
	unwinding.Go(func() {
		for _, c := range e.loop.conns {
			if c.unwind != nil {
				c.unwind()
			}
		}
	})
	unwinding.Wait()
	e.loop.close()
}

// answerInCallbacks is the server's side as completion functions.
func answerInCallbacks(c *conn, s *service, buf []byte) (start func()) {
	var onRead, onWritten func(int, error)
	start = func() { c.read(buf, onRead) }
	onRead = func(n int, err error) {
		if err != nil {
			return
		}
		s.serve(n)
		c.write(buf[:n], onWritten)
	}
	onWritten = func(_ int, err error) {
		if err == nil {
			c.read(buf, onRead)
		}
	}
	return start
}

// askInCallbacks is the client's side as completion functions.
func (x *client) askInCallbacks() (start func()) {
	var onWritten, onRead func(int, error)
	start = func() {
		if x.begin() {
			x.conn.write(x.out, onWritten)
		} else {
			x.finished()
		}
	}
	onWritten = func(_ int, err error) {
		if err != nil {
			x.broken(fmt.Errorf("write: %w", err))
			x.finished()
			return
		}
		x.conn.read(x.room(), onRead)
	}
	onRead = func(n int, err error) {
		switch {
		case err != nil:
			x.broken(fmt.Errorf("read after %d of %d bytes: %w", x.got, len(x.out), err))
			x.finished()
		case x.received(n):
			start()
		default:
			x.conn.read(x.room(), onRead)
		}
	}
	return start
}

// coroutine gives a body reads and writes that suspend it where they would have
// to wait.
type coroutine struct {
	conn   *conn
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
	then   func(n int, err error)
	n      int
	err    error
}

// errUnwound ends a body whose connection is closed.
var errUnwound = errors.New("coroutine is unwound")

// spawn returns a start that runs body as the coroutine of c, once for each
// call.
func spawn(c *conn, body func(*coroutine)) (start func()) {
	return func() {
		co := &coroutine{conn: c}
		co.then = func(n int, err error) {
			co.n, co.err = n, err
			co.resume()
		}
		co.resume, c.unwind = iter.Pull(func(yield func(struct{}) bool) {
			co.yield = yield
			body(co)
		})
		co.resume()
	}
}

// read returns the first bytes that come into buf.
func (co *coroutine) read(buf []byte) (int, error) {
	co.conn.read(buf, nil)
	return co.await()
}

// write writes all of buf.
func (co *coroutine) write(buf []byte) error {
	co.conn.write(buf, nil)
	_, err := co.await()
	return err
}

// await carries out the operation at once, or suspends until it is over.
func (co *coroutine) await() (int, error) {
	if n, err := co.conn.attempt(); err != unix.EAGAIN {
		return n, err
	}
	co.conn.then = co.then
	if !co.yield(struct{}{}) {
		return 0, errUnwound
	}
	return co.n, co.err
}

// answerInCoroutine is the server's side as a coroutine.
func answerInCoroutine(co *coroutine, s *service, buf []byte) {
	for {
		n, err := co.read(buf)
		if err != nil {
			return
		}
		s.serve(n)
		if co.write(buf[:n]) != nil {
			return
		}
	}
}

// askInCoroutine is the client's side as a coroutine, for one phase.
func (x *client) askInCoroutine(co *coroutine) {
	for x.begin() && x.askOnce(co) {
	}
	x.finished()
}

func (x *client) askOnce(co *coroutine) bool {
	if err := co.write(x.out); err != nil {
		x.broken(fmt.Errorf("write: %w", err))
		return false
	}
	for {
		n, err := co.read(x.room())
		if err != nil {
			x.broken(fmt.Errorf("read after %d of %d bytes: %w", x.got, len(x.out), err))
			return false
		}
		if x.received(n) {
			return true
		}
	}
}
