package echo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"pairbench/collect/driver"
	"pairbench/collect/workload/echoserver"
	"pairbench/collect/workload/engine"
)

// OpenHTTP opens the HTTP/1.1 echo: POST requests over kept-alive connections,
// answered with their body. A sample is a batch of in_flight requests of one
// connection; HTTP/1.1 without pipelining carries them one after the other. With
// job.Service it asks that address, and otherwise a server in this process.
func OpenHTTP(job driver.Job) (*Workload, error) {
	w, err := openOver(job, echoserver.HTTP, func(address string, p params) (pool, error) {
		return newHTTPClients(address, p, job.Seed)
	})
	if err != nil {
		return nil, fmt.Errorf("open http echo: %w", err)
	}
	return w, nil
}

// openOver opens a workload whose server, where it is ours, is the embedded one.
func openOver(job driver.Job, protocol echoserver.Protocol, open func(address string, p params) (pool, error)) (*Workload, error) {
	p, err := readParams(job)
	if err != nil {
		return nil, err
	}
	if p.arm != engine.ArmGoroutine {
		return nil, fmt.Errorf("arm is %q, expected %q: it is the only one over %s", p.arm, engine.ArmGoroutine, protocol)
	}
	if p.work > 0 {
		return nil, fmt.Errorf("work is %d, expected 0: the server over %s does none", p.work, protocol)
	}
	if job.Service != nil {
		conns, err := open(job.Service.Address, p)
		if err != nil {
			return nil, err
		}
		return newWorkload(job, p, conns)
	}
	server, err := echoserver.Listen("127.0.0.1:0", protocol)
	if err != nil {
		return nil, err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	stop := func() {
		server.Close()
		<-served
	}
	conns, err := open(server.Address(), p)
	if err != nil {
		stop()
		return nil, err
	}
	return newWorkload(job, p, withServer{conns, stop})
}

// withServer is a pool whose server is in this process.
type withServer struct {
	pool
	stop func()
}

func (w withServer) close() {
	w.pool.close()
	w.stop()
}

// httpClients is one goroutine and one transport a connection.
type httpClients struct {
	lanes
	links []*httpLink
}

// httpLink is a transport with one connection at a time. The transport may
// replace it, and does when the server closes it between requests: the record
// says how often.
type httpLink struct {
	transport *http.Transport
	mu        sync.Mutex
	conn      net.Conn
	dials     int
	closed    bool
}

func newHTTPLink() *httpLink {
	l := &httpLink{}
	l.transport = &http.Transport{
		MaxConnsPerHost:     1,
		MaxIdleConnsPerHost: 1,
		DisableCompression:  true,
		DialContext:         l.dial,
	}
	return l
}

func (l *httpLink) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: connectLimit}
	c, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		c.Close()
		return nil, net.ErrClosed
	}
	l.dials++
	l.conn = c
	return c, nil
}

func (l *httpLink) close() {
	l.mu.Lock()
	l.closed = true
	if l.conn != nil {
		l.conn.Close()
	}
	l.mu.Unlock()
	l.transport.CloseIdleConnections()
}

func newHTTPClients(address string, p params, seed int64) (*httpClients, error) {
	h := &httpClients{}
	h.interrupt = func() {
		for _, l := range h.links {
			l.close()
		}
	}
	for id := range p.connections {
		l := newHTTPLink()
		h.links = append(h.links, l)
		r, err := newRequester(l.transport, "http://"+address+"/", newExchange(p.inFlight, p.size, seed, id))
		if err == nil {
			err = r.connect()
		}
		if err != nil {
			h.close()
			return nil, err
		}
		h.all = append(h.all, lane{r.exchange, r.pass})
	}
	return h, nil
}

func (h *httpClients) check() error { return nil }

func (h *httpClients) describe(r map[string]string) {
	replaced := 0
	for _, l := range h.links {
		l.mu.Lock()
		replaced += l.dials - 1
		l.mu.Unlock()
	}
	r["io"] = "net/http, HTTP/1.1 keep-alive"
	r["connections_replaced"] = strconv.Itoa(replaced)
}

func (h *httpClients) close() { h.interrupt() }

// requester sends one request after the other.
type requester struct {
	*exchange
	transport http.RoundTripper
	request   *http.Request
	body      bytes.Reader
}

func newRequester(transport http.RoundTripper, url string, x *exchange) (*requester, error) {
	request, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/octet-stream")
	return &requester{exchange: x, transport: transport, request: request}, nil
}

// connect makes one request that is not counted: it opens the connection.
func (r *requester) connect() error {
	status, reply, err := r.roundTrip(r.out[:r.size])
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status is %d, expected 200", status)
	}
	if err == nil && !bytes.Equal(reply, r.out[:r.size]) {
		err = errors.New(difference(r.out[:r.size], reply))
	}
	if err != nil {
		return fmt.Errorf("first request: %w", err)
	}
	return nil
}

func (r *requester) pass() error {
	good := true
	for at := 0; at < len(r.out); at += r.size {
		status, reply, err := r.roundTrip(r.out[at : at+r.size])
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			r.wrong(1, fmt.Errorf("message %d: status is %d, expected 200", r.message(at), status))
			good = false
		} else if !r.same(at, reply) {
			good = false
		}
	}
	r.settle(good)
	return nil
}

// roundTrip sends a request and returns the reply's body, cut after one byte too
// many; it is valid until the next one.
func (r *requester) roundTrip(message []byte) (status int, reply []byte, err error) {
	r.body.Reset(message)
	// The transport is done with a request only when its body is closed, so a
	// copy goes out each time.
	request := *r.request
	request.Body = io.NopCloser(&r.body)
	request.ContentLength = int64(len(message))
	response, err := r.transport.RoundTrip(&request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	n, err := io.ReadFull(response.Body, r.in[:r.size+1])
	if err == nil {
		io.Copy(io.Discard, response.Body)
	} else if err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, nil, fmt.Errorf("read body after %d bytes: %w", n, err)
	}
	return response.StatusCode, r.in[:n], nil
}
