package echo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"pairbench/collect/driver"
	"pairbench/collect/workload/echoserver"
)

// OpenHTTP opens the HTTP/1.1 echo: POST requests over kept-alive connections,
// answered with their body. An operation, and a sample, is one request. On each
// connection in_flight requests are outstanding; HTTP/1.1 carries one at a time,
// so the others wait for it, and their latency includes the wait. With
// job.Service it asks that address, and otherwise a server in this process.
func OpenHTTP(job driver.Job) (*Workload, error) {
	w, err := openOver(job, echoserver.HTTP, 1, func(address string, p params) (pool, error) {
		return newHTTPClients(address, p, job.Seed)
	})
	if err != nil {
		return nil, fmt.Errorf("open http echo: %w", err)
	}
	return w, nil
}

// openOver opens a workload whose server, where it is ours, is the embedded one.
// perSample is 0 where a sample is a whole batch.
func openOver(job driver.Job, protocol echoserver.Protocol, perSample int64, open func(address string, p params) (pool, error)) (*Workload, error) {
	p, err := readParams(job)
	if err != nil {
		return nil, err
	}
	if p.api != apiGoroutine {
		return nil, fmt.Errorf("api is %q, expected %q: it is the only one over %s", p.api, apiGoroutine, protocol)
	}
	if p.work > 0 {
		return nil, fmt.Errorf("work is %d, expected 0: the server over %s does none", p.work, protocol)
	}
	if perSample == 0 {
		perSample = int64(p.inFlight)
	}
	if job.Service != nil {
		conns, err := open(job.Service.Address, p)
		if err != nil {
			return nil, err
		}
		return newWorkload(job, p, perSample, conns)
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
	return newWorkload(job, p, perSample, withServer{conns, stop})
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

// httpClients is one transport a connection, so that in_flight requests share
// exactly that connection.
type httpClients struct {
	lanes
	links []*httpLink
}

// httpLink is a transport that connects once: a connection that the server
// closes is not replaced in silence.
type httpLink struct {
	transport *http.Transport
	mu        sync.Mutex
	conn      net.Conn
	dialled   atomic.Bool
}

var errReplaced = errors.New("the server closed the connection")

func newHTTPLink() *httpLink {
	l := &httpLink{}
	dialer := net.Dialer{Timeout: connectLimit}
	l.transport = &http.Transport{
		MaxConnsPerHost:     1,
		MaxIdleConnsPerHost: 1,
		DisableCompression:  true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if l.dialled.Swap(true) {
				return nil, errReplaced
			}
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			l.mu.Lock()
			l.conn = c
			l.mu.Unlock()
			return c, nil
		},
	}
	return l
}

func (l *httpLink) close() {
	l.mu.Lock()
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
	for id := range p.connections * p.inFlight {
		if id%p.inFlight == 0 {
			h.links = append(h.links, newHTTPLink())
		}
		l := h.links[len(h.links)-1]
		r, err := newRequester(l.transport, "http://"+address+"/", newExchange(1, p.size, seed, id))
		if err == nil && id%p.inFlight == 0 {
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

func (h *httpClients) io() string { return "net/http, HTTP/1.1 keep-alive" }

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
	_, err := r.roundTrip()
	if err == nil && !bytes.Equal(r.in[:r.got], r.out) {
		err = errors.New(difference(r.out, r.in[:r.got]))
	}
	if err != nil {
		return fmt.Errorf("first request: %w", err)
	}
	return nil
}

func (r *requester) pass() error {
	status, err := r.roundTrip()
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		r.wrong(1, fmt.Errorf("message %d: status is %d, expected 200", r.message(0), status))
	default:
		r.replied()
	}
	return nil
}

// roundTrip sends out and leaves the body of the reply in in[:got].
func (r *requester) roundTrip() (status int, err error) {
	r.body.Reset(r.out)
	// The transport is done with a request only when its body is closed, so a
	// copy goes out each time.
	request := *r.request
	request.Body = io.NopCloser(&r.body)
	request.ContentLength = int64(len(r.out))
	response, err := r.transport.RoundTrip(&request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	r.got = 0
	for r.got < len(r.in) {
		n, err := response.Body.Read(r.room())
		r.got += n
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("read body after %d bytes: %w", r.got, err)
		}
	}
	return response.StatusCode, nil
}
