package echoserver

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Protocol is what a server speaks.
type Protocol string

// The protocols.
const (
	RESP2     Protocol = "resp2"
	TCP       Protocol = "tcp"
	HTTP      Protocol = "http"
	WebSocket Protocol = "websocket"
)

// Protocols returns all of them.
func Protocols() []Protocol { return []Protocol{RESP2, TCP, HTTP, WebSocket} }

// MaxPayloadBytes bounds one payload of RESP2, HTTP and WebSocket. Plain TCP has
// no messages and no bound.
const MaxPayloadBytes = 64 << 20

// maxConnections bounds the connections that are served at once; more wait in
// the backlog of the listener.
const maxConnections = 4096

// Server listens on one address. Create it with Listen, run Serve once, and
// end both with Close.
type Server struct {
	listener net.Listener
	serve    func(*Server) error
	slots    chan struct{}

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
	busy   sync.WaitGroup
	stop   []func()
}

// Listen opens address (host:port; port 0 lets the system choose). Clients can
// connect when it returns; they are served once Serve runs.
func Listen(address string, p Protocol) (*Server, error) {
	var serve func(*Server) error
	switch p {
	case RESP2:
		serve = each(serveRESP)
	case TCP:
		serve = each(serveTCP)
	case HTTP:
		serve = serveHTTP(echoHTTP)
	case WebSocket:
		serve = serveHTTP(echoWebSocket)
	default:
		names := make([]string, 0, 4)
		for _, known := range Protocols() {
			names = append(names, string(known))
		}
		return nil, fmt.Errorf("listen on %s: protocol is %q, expected %s", address, p, strings.Join(names, ", "))
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, cause(err))
	}
	return &Server{
		listener: l,
		serve:    serve,
		slots:    make(chan struct{}, maxConnections),
		conns:    make(map[net.Conn]struct{}),
	}, nil
}

// cause takes off the operation and address that the caller names itself.
func cause(err error) error {
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		return op.Err
	}
	return err
}

// Address is where the server listens, with the port that the system chose.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Serve answers clients until Close, and then returns nil. Any other end of the
// listener is an error.
func (s *Server) Serve() error {
	err := s.serve(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	return fmt.Errorf("serve %s: %w", s.Address(), err)
}

// Close ends the listener and every connection and waits until all are closed.
// It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	stop := s.stop
	s.stop = nil
	s.listener.Close()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	for _, f := range stop {
		f()
	}
	s.busy.Wait()
}

// onClose has stop called by Close.
func (s *Server) onClose(stop func()) {
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.stop = append(s.stop, stop)
	}
	s.mu.Unlock()
	if closed {
		stop()
	}
}

// each serves every accepted connection with one call of handle.
func each(handle func(net.Conn)) func(*Server) error {
	return func(s *Server) error {
		for {
			c, err := s.accept()
			if err != nil {
				return err
			}
			go func() {
				defer s.forget(c)
				handle(c)
			}()
		}
	}
}

// accept returns the next connection, counted as busy. Running out of
// descriptors ends no server: it waits for one.
func (s *Server) accept() (net.Conn, error) {
	s.slots <- struct{}{}
	for {
		c, err := s.listener.Accept()
		if err == nil {
			if s.admit(c) {
				return c, nil
			}
			<-s.slots
			return nil, net.ErrClosed
		}
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED) {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		<-s.slots
		return nil, err
	}
}

func (s *Server) admit(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return false
	}
	s.conns[c] = struct{}{}
	s.busy.Add(1)
	return true
}

// forget ends what admit began.
func (s *Server) forget(c net.Conn) {
	c.Close()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	<-s.slots
	s.busy.Done()
}

const tcpBufferBytes = 64 << 10

func serveTCP(c net.Conn) {
	buf := make([]byte, tcpBufferBytes)
	for {
		n, err := c.Read(buf)
		if n > 0 {
			if _, werr := c.Write(buf[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
