package engine

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// goroutines carries the goroutine arm: a channel of leases, and one blocking
// goroutine for each request in flight.
type goroutines struct {
	e      *Engine
	leases chan Conn
	conns  []Conn
	// lostAll is closed when no usable connection is left.
	lostAll chan struct{}

	mu     sync.Mutex // guards the phase's bookkeeping and usable
	usable int
}

func openGoroutines(e *Engine) (carrier, error) {
	g := &goroutines{e: e, leases: make(chan Conn, e.config.Connections), lostAll: make(chan struct{})}
	dialer := net.Dialer{Timeout: dialTimeout}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}
	errs := make(chan error, e.config.Connections)
	g.conns = make([]Conn, e.config.Connections)
	for no := range g.conns {
		go func() {
			conn, err := e.workload.Open(no, dial)
			if err != nil {
				errs <- fmt.Errorf("connect %d of %d: %w", no+1, len(g.conns), err)
				return
			}
			g.mu.Lock()
			g.conns[no] = conn
			g.mu.Unlock()
			g.leases <- conn
			errs <- nil
		}()
	}
	limit := time.After(openLimit)
	for range g.conns {
		var err error
		select {
		case err = <-errs:
		case <-limit:
			err = fmt.Errorf("connect: not all of %d connections answer within %v", len(g.conns), openLimit)
		}
		if err != nil {
			g.close()
			return nil, err
		}
	}
	g.usable = len(g.conns)
	return g, nil
}

func (g *goroutines) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, c := range g.conns {
		if c != nil {
			_ = c.Close()
		}
		g.conns[i] = nil
	}
	return nil
}

func (g *goroutines) describe(runtime map[string]string) {
	runtime["io"] = "goroutines"
	runtime["locked_threads"] = "0"
}

// phase implements carrier. The calling goroutine only watches, and keeps the
// time of ticks and arrivals.
func (g *goroutines) phase(p *phase) {
	places := len(g.e.requests)
	w := &watch{g: g, p: p, kicks: make([]chan struct{}, places), delivered: make([]uint32, 0, places)}
	for i := range w.kicks {
		w.kicks[i] = make(chan struct{}, 1)
	}
	var all sync.WaitGroup
	for no := range places {
		all.Go(func() { w.place(uint32(no)) })
	}
	pace := newPacer(g.e.clock)
	if !p.start() {
		w.end()
		all.Wait()
		return
	}
	g.mu.Lock()
	taken := w.take(make([]uint32, 0, places), places)
	g.mu.Unlock()
	w.kick(taken)
	if g.e.config.Tick > 0 {
		w.keepTicks(pace)
	} else {
		w.keepArrivals(pace)
	}
	p.finish()
	if g.e.stuck {
		g.close() // lets the goroutines that still wait for a reply go
	}
	w.end()
	all.Wait()
}

// watch is one phase of the goroutine arm.
type watch struct {
	g *goroutines
	p *phase
	// kicks tells a place that a request was taken for it.
	kicks []chan struct{}
	// delivered holds, in front of a tick, the places whose reply has come.
	delivered []uint32
}

func (w *watch) end() {
	for _, kick := range w.kicks {
		close(kick)
	}
}

func (w *watch) kick(places []uint32) {
	for _, no := range places {
		w.kicks[no] <- struct{}{}
	}
}

// place is the life of one request in flight after the other.
func (w *watch) place(no uint32) {
	for range w.kicks[no] {
		for more := true; more; {
			w.submit(no)
			more = w.arrived(no, w.g.carryOut(&w.g.e.requests[no]))
		}
	}
}

func (w *watch) submit(no uint32) {
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	w.p.stamp(&w.g.e.requests[no])
}

// arrived delivers a reply, at once or at the next tick, and tells whether the
// place was given another request.
func (w *watch) arrived(no uint32, err error) bool {
	g := w.g
	g.mu.Lock()
	defer g.mu.Unlock()
	r := &g.e.requests[no]
	r.err = err
	switch {
	case g.e.stuck:
		return false
	case g.e.config.Tick > 0:
		w.delivered = append(w.delivered, no)
		return false
	default:
		w.p.settle(r)
		return w.p.next(no, w.p.last)
	}
}

// take gives up to n places, numbered from 0, their first request.
func (w *watch) take(taken []uint32, n int) []uint32 {
	for no := range n {
		if w.p.next(uint32(no), w.p.now()) {
			taken = append(taken, uint32(no))
		}
	}
	return taken
}

// due gives idle places the requests of an open loop that are due.
func (w *watch) due(taken []uint32) []uint32 {
	p := w.p
	for now := p.now(); len(p.idle) > 0 && p.arrivals.at <= now && p.more(p.arrivals.at); {
		no := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if p.next(no, now) {
			taken = append(taken, no)
		}
	}
	return taken
}

// carryOut leases a connection and blocks until the reply is checked.
func (g *goroutines) carryOut(r *request) error {
	var conn Conn
	select {
	case conn = <-g.leases:
	default:
		select {
		case conn = <-g.leases:
		case <-g.lostAll:
			return errNoConnection
		}
	}
	err := conn.Do(r.op)
	if err == nil || !isLost(err) {
		g.leases <- conn
		return err
	}
	g.mu.Lock()
	if g.usable--; g.usable == 0 {
		close(g.lostAll)
	}
	g.mu.Unlock()
	return err
}

// keepTicks delivers, at each tick, what has come since the last one.
func (w *watch) keepTicks(pace pacer) {
	p := w.p
	tick := int64(w.g.e.config.Tick)
	taken := make([]uint32, 0, len(w.kicks))
	for next := tick; ; next += tick {
		next += p.skipMissed(next, tick)
		pace.sleepUntil(p.zero + next)
		var on bool
		if taken, on = w.tick(taken[:0]); !on {
			return
		}
		w.kick(taken)
	}
}

// tick delivers what has come and returns the places that go on, and whether
// the phase does.
func (w *watch) tick(taken []uint32) ([]uint32, bool) {
	g, p := w.g, w.p
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, no := range w.delivered {
		p.settle(&g.e.requests[no])
		if p.next(no, p.last) {
			taken = append(taken, no)
		}
	}
	came := len(w.delivered) > 0
	w.delivered = w.delivered[:0]
	taken = w.due(taken)
	if !came && p.stalled() {
		p.abandon()
		return nil, false
	}
	return taken, p.busy()
}

// keepArrivals waits for the end of a phase with continuous delivery, and in an
// open loop gives out requests when they are due.
func (w *watch) keepArrivals(pace pacer) {
	g, p := w.g, w.p
	const look = int64(5 * time.Millisecond)
	taken := make([]uint32, 0, len(w.kicks))
	for {
		g.mu.Lock()
		if p.stalled() {
			p.abandon()
		}
		if !p.busy() || g.e.stuck {
			g.mu.Unlock()
			return
		}
		taken = w.due(taken[:0])
		next := p.now() + look
		if len(p.idle) > 0 {
			next = min(next, p.arrivals.at)
		}
		g.mu.Unlock()
		w.kick(taken)
		pace.sleepUntil(p.zero + next)
	}
}
