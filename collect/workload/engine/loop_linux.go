package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"sync/atomic"
	"syscall"
)

var errStopped = errors.New("connection was given up: the run has ended")

// loop is the IO side: an epoll, the pool's connections with a coroutine each,
// and the requests that wait for a lease. All its methods but wake run on one
// thread, which in the inline variant is the owner's.
type loop struct {
	e      *Engine
	epfd   int
	wakefd int
	events []syscall.EpollEvent
	conns  []*loopConn // by their number in epoll
	tasks  []*task
	// free holds the connections without a lease; the one returned last is
	// leased first, as in the pools of the client libraries.
	free []*task
	// waiting holds the requests without a lease, first come, first served.
	waiting *ring
	usable  int
	opening int
	// sleeping says that the thread is in epoll, or about to be, and has to be
	// woken for a submission.
	sleeping atomic.Bool
	stopping atomic.Bool
}

// task is one connection of the pool and the coroutine that drives it.
type task struct {
	loop    *loop
	no      int
	conn    Conn
	err     error
	request int64 // number of the request that holds the lease, -1 for none
	resume  func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	// awaits says what the coroutine is suspended for.
	awaits  *loopConn
	forRead bool
	stopped bool
}

func newLoop(e *Engine) (*loop, error) {
	epfd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create epoll: %w", err)
	}
	wakefd, err := newEventfd()
	if err != nil {
		syscall.Close(epfd)
		return nil, fmt.Errorf("create eventfd: %w", err)
	}
	l := &loop{
		e: e, epfd: epfd, wakefd: wakefd,
		events:  make([]syscall.EpollEvent, epollBatch),
		free:    make([]*task, 0, e.config.Connections),
		waiting: newRing(e.config.Outstanding),
		opening: e.config.Connections,
	}
	// Edge-triggered: the counter never has to be read back.
	event := syscall.EpollEvent{Events: syscall.EPOLLIN | epollEdge, Fd: -1}
	if err := syscall.EpollCtl(epfd, syscall.EPOLL_CTL_ADD, wakefd, &event); err != nil {
		l.closeDescriptors()
		return nil, fmt.Errorf("watch eventfd: %w", err)
	}
	return l, nil
}

// start makes the connections' coroutines on the calling thread and lets each
// begin to connect.
func (l *loop) start() {
	for no := range l.e.config.Connections {
		t := &task{loop: l, no: no, request: -1}
		t.resume, t.stop = iter.Pull(t.body)
		l.tasks = append(l.tasks, t)
	}
	for _, t := range l.tasks {
		t.resume()
	}
}

// body connects, and then carries out one request after the other.
func (t *task) body(yield func(struct{}) bool) {
	l := t.loop
	t.yield = yield
	t.conn, t.err = l.e.workload.Open(t.no, t.dial)
	l.opening--
	if t.err != nil {
		return
	}
	l.usable++
	l.free = append(l.free, t)
	for {
		if t.request < 0 {
			if t.stopped || !yield(struct{}{}) {
				return
			}
			continue
		}
		no := uint32(t.request)
		r := &l.e.requests[no]
		r.err = t.conn.Do(r.op)
		lost := r.err != nil && isLost(r.err)
		t.request = -1
		l.e.completions.push(no)
		if lost {
			l.lose()
			return
		}
		if next, ok := l.waiting.pop(); ok {
			t.request = int64(next)
		} else {
			l.free = append(l.free, t)
		}
	}
}

// lose takes a connection out of the pool; without any, what waits has failed.
func (l *loop) lose() {
	l.usable--
	if l.usable > 0 {
		return
	}
	for no, ok := l.waiting.pop(); ok; no, ok = l.waiting.pop() {
		l.fail(no)
	}
}

func (l *loop) fail(no uint32) {
	l.e.requests[no].err = errNoConnection
	l.e.completions.push(no)
}

// accept leases a connection to a request, or lets it wait for one.
func (l *loop) accept(no uint32) {
	switch n := len(l.free); {
	case n > 0:
		t := l.free[n-1]
		l.free = l.free[:n-1]
		t.request = int64(no)
		t.resume()
	case l.usable == 0:
		l.fail(no)
	default:
		l.waiting.push(no)
	}
}

// step handles the submissions there are, waits in epoll for at most timeoutMs
// (-1: until something happens), and resumes whoever can go on. It returns the
// number of events.
func (l *loop) step(timeoutMs int) int {
	n, errno := epollWait(l.epfd, l.events, timeoutMs)
	if errno != 0 {
		return 0
	}
	for i := range n {
		ev := &l.events[i]
		if ev.Fd < 0 {
			continue
		}
		c := l.conns[ev.Fd]
		if ev.Events&readableEvents != 0 {
			c.readable = true
		}
		if ev.Events&writableEvents != 0 {
			c.writable = true
		}
		if ev.Events&endOfStreamEvents != 0 {
			c.ended = true
		}
		t := c.task
		if t.awaits == c && (t.forRead && c.readable || !t.forRead && c.writable) {
			t.resume()
		}
	}
	return n
}

// take accepts the submissions there are and returns their number.
func (l *loop) take() int {
	n := 0
	for no, ok := l.e.submissions.pop(); ok; no, ok = l.e.submissions.pop() {
		l.accept(no)
		n++
	}
	return n
}

// run is the life of the IO thread. With no request in flight the owner has just
// been given the last reply and is about to submit: letting it run before going to
// sleep spares both sides a wake-up, a third of the cost of one request where
// they share a processor.
func (l *loop) run() {
	for !l.stopping.Load() {
		if l.take() == 0 && len(l.free) == l.usable {
			yieldThread()
			l.take()
		}
		l.sleeping.Store(true)
		if !l.e.submissions.empty() || l.stopping.Load() {
			l.sleeping.Store(false)
			continue
		}
		l.step(epollWaitForEver)
		l.sleeping.Store(false)
	}
}

// wake tells a sleeping IO thread of submissions.
func (l *loop) wake() {
	if l.sleeping.Load() && l.sleeping.CompareAndSwap(true, false) {
		notify(l.wakefd)
	}
}

// shut ends the coroutines, on the thread that made them, and closes what they
// held. Requests that are still in flight stay incomplete.
func (l *loop) shut() {
	for _, t := range l.tasks {
		t.stopped = true
		t.stop()
		if t.conn != nil {
			_ = t.conn.Close()
		}
	}
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.closeDescriptors()
}

func (l *loop) closeDescriptors() {
	syscall.Close(l.epfd)
	syscall.Close(l.wakefd)
}

// dial connects with a blocking connect and hands the socket to the loop.
func (t *task) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return dialSuspending(ctx, t, network, address)
}
