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
	lanes
	ends    *endpoints
	servers []*service
	serving sync.WaitGroup
}

func newGoroutines(ends *endpoints, p params, seed int64) *goroutines {
	g := &goroutines{ends: ends}
	for id, conn := range ends.client {
		x := newExchange(p.inFlight, p.size, seed, id)
		g.all = append(g.all, lane{x, func() error { return ask(conn, x) }})
	}
	g.interrupt = func() {
		for _, conn := range ends.client {
			conn.SetDeadline(time.Unix(1, 0))
		}
	}
	for id, conn := range ends.server {
		s := newService(p.size, p.work, id)
		g.servers = append(g.servers, s)
		g.serving.Go(func() { answer(conn, s, make([]byte, p.inFlight*p.size+1)) })
	}
	return g
}

// ask is one pass of the client's side.
func ask(conn net.Conn, x *exchange) error {
	if _, err := conn.Write(x.out); err != nil {
		return fmt.Errorf("write: %w", cause(err))
	}
	for {
		n, err := conn.Read(x.room())
		if err != nil {
			return fmt.Errorf("read after %d of %d bytes: %w", x.got, len(x.out), cause(err))
		}
		if x.received(n) {
			return nil
		}
	}
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

func (g *goroutines) check() error { return checkAll(g.servers) }

func (g *goroutines) describe(r map[string]string) {
	r["io"] = "netpoller, two goroutines a connection"
}

func (g *goroutines) close() {
	g.ends.close()
	g.serving.Wait()
}
