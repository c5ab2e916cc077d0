package engine

import (
	"fmt"
	"runtime"
	"time"
)

// owner submits and polls, on the thread that called Open.
type owner struct {
	e  *Engine
	io ioSide
}

// ioSide is the owner's way to the connections.
type ioSide interface {
	// flush makes the submissions start.
	flush()
	// poll lets completions come.
	poll()
	// idle passes the time after a poll that brought nothing. wait says that
	// nothing but IO can be next.
	idle(wait bool)
	// close ends the IO side and closes the connections.
	close() error
}

// inlineIO does the IO on the owner's thread.
type inlineIO struct{ loop *loop }

func (io inlineIO) flush() { io.loop.take() }
func (io inlineIO) poll()  { io.loop.step(epollDoNotWait) }

// idleMs bounds one sleep, so that a server that fell silent is found out.
const idleMs = 10

func (io inlineIO) idle(wait bool) {
	if wait {
		io.loop.step(idleMs)
	} else {
		yieldThread()
	}
}

func (io inlineIO) close() error {
	io.loop.shut()
	return nil
}

// separateIO leaves the IO to a thread of its own.
type separateIO struct {
	loop *loop
	// ended is closed when the IO thread has ended.
	ended chan struct{}
}

func (io separateIO) flush() { io.loop.wake() }
func (io separateIO) poll()  {}

func (io separateIO) idle(bool) { yieldThread() }

func (io separateIO) close() error {
	io.loop.stopping.Store(true)
	notify(io.loop.wakefd)
	<-io.ended
	return nil
}

// arm is who runs when a completion has come, or a place may issue again.
type arm interface {
	// prepare makes everything the phase needs before it starts.
	prepare(p *phase)
	// kick lets a place issue its next request, if one is due.
	kick(no uint32)
	// deliver hands a completion to its place.
	deliver(no uint32)
	end()
}

func openOwner(e *Engine) (carrier, error) {
	l, err := newLoop(e)
	if err != nil {
		return nil, err
	}
	o := &owner{e: e}
	if e.config.Inline {
		err = o.connectInline(l)
	} else {
		err = o.connectSeparate(l)
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func (o *owner) connectInline(l *loop) error {
	o.io = inlineIO{l}
	until := time.Now().Add(openLimit)
	l.start()
	for l.opening > 0 && time.Now().Before(until) {
		l.step(10)
	}
	return l.openError()
}

func (o *owner) connectSeparate(l *loop) error {
	opened := make(chan error, 1)
	ended := make(chan struct{})
	o.io = separateIO{l, ended}
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		until := time.Now().Add(openLimit)
		l.start()
		for l.opening > 0 && time.Now().Before(until) {
			l.step(10)
		}
		opened <- l.openError()
		l.run()
		l.shut()
	}()
	return <-opened
}

// openError says why the pool is not whole.
func (l *loop) openError() error {
	for _, t := range l.tasks {
		if t.err != nil {
			return fmt.Errorf("connect %d of %d: %w", t.no+1, len(l.tasks), t.err)
		}
	}
	if l.opening > 0 {
		return fmt.Errorf("connect: %d of %d connections do not answer within %v", l.opening, len(l.tasks), openLimit)
	}
	return nil
}

func (o *owner) close() error { return o.io.close() }

func (o *owner) describe(runtime map[string]string) {
	runtime["io"] = "separate"
	runtime["locked_threads"] = "2"
	if o.e.config.Inline {
		runtime["io"] = "inline"
		if o.e.config.Wait {
			runtime["idle"] = "wait"
		}
		runtime["locked_threads"] = "1"
	}
}

// submit hands a prepared request to the IO side; the IO side's flush makes it start.
func (o *owner) submit(p *phase, no uint32) {
	p.stamp(&o.e.requests[no])
	o.e.submissions.push(no)
}

// phase implements carrier: the owner's loop.
func (o *owner) phase(p *phase) {
	var a arm
	if o.e.config.Arm == ArmCoroutine {
		a = &coroutines{owner: o}
	} else {
		a = &callbacks{owner: o}
	}
	a.prepare(p)
	defer a.end()
	pace := newPacer(o.e.clock)
	if !p.start() {
		return
	}
	for no := range o.e.requests {
		a.kick(uint32(no))
	}
	o.io.flush()
	if tick := int64(o.e.config.Tick); tick > 0 {
		o.pollByTick(p, a, pace, tick)
	} else {
		o.pollContinuously(p, a)
	}
	p.finish()
}

// pass delivers what has come and issues what is due.
func (o *owner) pass(p *phase, a arm) int {
	o.io.poll()
	n := 0
	for no, ok := o.e.completions.pop(); ok; no, ok = o.e.completions.pop() {
		a.deliver(no)
		n++
	}
	if len(p.idle) > 0 {
		now := p.now()
		for len(p.idle) > 0 && p.arrivals.at <= now && p.more(p.arrivals.at) {
			no := p.idle[len(p.idle)-1]
			p.idle = p.idle[:len(p.idle)-1]
			a.kick(no)
			n++
		}
	}
	if n > 0 {
		o.io.flush()
	}
	return n
}

func (o *owner) pollContinuously(p *phase, a arm) {
	const checkEvery = 1024
	empty := 0
	for p.busy() {
		if o.pass(p, a) > 0 {
			empty = 0
			continue
		}
		if empty++; (empty%checkEvery == 0 || o.e.config.Wait && empty > 1) && p.stalled() {
			p.abandon()
			return
		}
		o.io.idle(len(p.idle) == 0 && o.e.config.Wait)
	}
}

// pollByTick polls once a tick.
func (o *owner) pollByTick(p *phase, a arm, pace pacer, tick int64) {
	for next := tick; p.busy(); next += tick {
		next += p.skipMissed(next, tick)
		pace.sleepUntil(p.zero + next)
		if o.pass(p, a) == 0 && p.stalled() {
			p.abandon()
			return
		}
	}
}
