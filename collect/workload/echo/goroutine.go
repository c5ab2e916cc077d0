package echo

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// goroutines is the arm of the net package: two goroutines a connection, one for
// each side, which block in Read and Write.
type goroutines struct {
	ends    *endpoints
	clients []*exchange
	servers []*service
	serving sync.WaitGroup
}

func newGoroutines(ends *endpoints, p params, seed int64) *goroutines {
	g := &goroutines{ends: ends}
	for id := range ends.client {
		g.clients = append(g.clients, newExchange(p.inFlight, p.size, seed, id))
	}
	for id, conn := range ends.server {
		s := newService(p.size, p.work, id)
		g.servers = append(g.servers, s)
		g.serving.Go(func() { answer(conn, s, make([]byte, p.inFlight*p.size+1)) })
	}
	return g
}

// answer is the server's side of one connection, until it ends.
func answer(conn net.Conn, s *service, buf []byte) {
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		s.serve(n)
		if _, err := conn.Write(buf[:n]); err != nil {
			return
		}
	}
}

// ask is the client's side of one connection in one phase.
func ask(conn net.Conn, x *exchange) {
	for x.begin() {
		if _, err := conn.Write(x.out); err != nil {
			x.broken(fmt.Errorf("write: %w", cause(err)))
			return
		}
		for over := false; !over; {
			n, err := conn.Read(x.room())
			if err != nil {
				x.broken(fmt.Errorf("read after %d of %d bytes: %w", x.got, len(x.out), cause(err)))
				return
			}
			over = x.received(n)
		}
	}
}

func (g *goroutines) run(p *phase, stall time.Duration) {
	var asking sync.WaitGroup
	for id, x := range g.clients {
		x.phase = p
		asking.Go(func() { ask(g.ends.client[id], x) })
	}
	done := make(chan struct{})
	go func() {
		asking.Wait()
		close(done)
	}()
	if !p.wait(done, stall) {
		p.stopped.Store(true)
		for _, conn := range g.ends.client {
			conn.SetDeadline(time.Unix(1, 0))
		}
		<-done
	}
}

func (g *goroutines) check() error {
	return checkAll(g.servers)
}

func (g *goroutines) io() string { return "netpoller, two goroutines a connection" }

func (g *goroutines) versions() map[string]string { return nil }

func (g *goroutines) close() {
	g.ends.close()
	g.serving.Wait()
}
