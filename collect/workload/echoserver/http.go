package echoserver

import (
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// headerTimeout bounds how long a client may take to send a request's header.
const headerTimeout = 10 * time.Second

// serveHTTP runs net/http with handler on the server's listener.
func serveHTTP(handler func(*Server) http.Handler) func(*Server) error {
	return func(s *Server) error {
		h := &http.Server{
			Handler:           handler(s),
			ReadHeaderTimeout: headerTimeout,
			MaxHeaderBytes:    64 << 10,
			ErrorLog:          log.New(io.Discard, "", 0),
		}
		s.onClose(func() { h.Close() })
		return h.Serve(bounded{s})
	}
}

// bounded is the listener of s; its connections belong to s until they close.
type bounded struct{ s *Server }

func (b bounded) Accept() (net.Conn, error) {
	c, err := b.s.accept()
	if err != nil {
		return nil, err
	}
	return &owned{Conn: c, s: b.s}, nil
}

func (b bounded) Close() error   { return b.s.listener.Close() }
func (b bounded) Addr() net.Addr { return b.s.listener.Addr() }

type owned struct {
	net.Conn
	s    *Server
	once sync.Once
}

func (o *owned) Close() error {
	o.once.Do(func() { o.s.forget(o.Conn) })
	return nil
}

// echoHTTP answers POST with the request's body, its type included.
func echoHTTP(*Server) http.Handler {
	pool := sync.Pool{New: func() any { return new([]byte) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "expected POST", http.StatusMethodNotAllowed)
			return
		}
		if r.ContentLength > MaxPayloadBytes {
			http.Error(w, "body is too large", http.StatusRequestEntityTooLarge)
			return
		}
		buf := pool.Get().(*[]byte)
		body, err := readAll(http.MaxBytesReader(w, r.Body, MaxPayloadBytes), (*buf)[:0])
		if cap(body) <= keepBytes {
			*buf = body
			defer pool.Put(buf)
		}
		if err != nil {
			http.Error(w, "body cannot be read or is too large", http.StatusBadRequest)
			return
		}
		kind := r.Header.Get("Content-Type")
		if kind == "" {
			kind = "application/octet-stream"
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	})
}

// readAll appends everything in r to buf.
func readAll(r io.Reader, buf []byte) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

// echoWebSocket upgrades every request and answers each message with itself.
func echoWebSocket(s *Server) http.Handler {
	up := websocket.Upgrader{ReadBufferSize: bufferBytes, WriteBufferSize: bufferBytes}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		c.SetReadLimit(MaxPayloadBytes)
		var buf []byte
		for {
			kind, reader, err := c.NextReader()
			if err != nil {
				return
			}
			if buf, err = readAll(reader, buf[:0]); err != nil {
				return
			}
			if c.WriteMessage(kind, buf) != nil {
				return
			}
			if cap(buf) > keepBytes {
				buf = nil
			}
		}
	})
}
