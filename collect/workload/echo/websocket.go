package echo

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gorilla/websocket"

	"pairbench/collect/driver"
	"pairbench/collect/workload/echoserver"
)

// OpenWebSocket opens the WebSocket echo: binary messages, answered with
// themselves. A sample is a batch of in_flight messages, written one after the
// other before the first reply is read. With job.Service it asks that address,
// and otherwise a server in this process.
func OpenWebSocket(job driver.Job) (*Workload, error) {
	w, err := openOver(job, echoserver.WebSocket, func(address string, p params) (pool, error) {
		return newWebSockets(address, p, job.Seed)
	})
	if err != nil {
		return nil, fmt.Errorf("open websocket echo: %w", err)
	}
	return w, nil
}

// webSockets is one goroutine a connection.
type webSockets struct {
	lanes
	conns []*websocket.Conn
}

func newWebSockets(address string, p params, seed int64) (*webSockets, error) {
	w := &webSockets{}
	w.interrupt = func() {
		for _, c := range w.conns {
			c.Close()
		}
	}
	dialer := websocket.Dialer{HandshakeTimeout: connectLimit}
	ctx, cancel := context.WithTimeout(context.Background(), connectLimit+time.Duration(p.connections)*time.Second)
	defer cancel()
	for id := range p.connections {
		c, _, err := dialer.DialContext(ctx, "ws://"+address+"/", nil)
		if err != nil {
			w.close()
			return nil, err
		}
		w.conns = append(w.conns, c)
		x := newExchange(p.inFlight, p.size, seed, id)
		w.all = append(w.all, lane{x, func() error { return askWebSocket(c, x) }})
	}
	return w, nil
}

// askWebSocket is one pass over one connection.
func askWebSocket(c *websocket.Conn, x *exchange) error {
	for at := 0; at < len(x.out); at += x.size {
		if err := c.WriteMessage(websocket.BinaryMessage, x.out[at:at+x.size]); err != nil {
			return fmt.Errorf("write message: %w", cause(err))
		}
	}
	good := true
	for at := 0; at < len(x.out); at += x.size {
		kind, reader, err := c.NextReader()
		if err != nil {
			return fmt.Errorf("read message: %w", cause(err))
		}
		n, err := io.ReadFull(reader, x.in[:x.size+1])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return fmt.Errorf("read message: %w", cause(err))
		}
		if kind != websocket.BinaryMessage {
			x.wrong(1, fmt.Errorf("message %d: reply is text, expected binary", x.message(at)))
			good = false
		} else if !x.same(at, x.in[:n]) {
			good = false
		}
	}
	x.settle(good)
	return nil
}

func (w *webSockets) check() error { return nil }

func (w *webSockets) describe(r map[string]string) {
	r["io"] = "gorilla/websocket, one goroutine a connection"
}

func (w *webSockets) close() { w.interrupt() }
