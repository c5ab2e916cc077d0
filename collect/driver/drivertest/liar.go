package drivertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Lie is what a lying server does to one request in ten.
type Lie string

// The lies.
const (
	LieStale   Lie = "stale"   // the reply to the request before
	LieShort   Lie = "short"   // half of the payload
	LieNil     Lie = "nil"     // no value
	LieSwapped Lie = "swapped" // the reply to another request in flight
	LieError   Lie = "error"   // an error reply
	LieClosed  Lie = "closed"  // no reply, and the connection closed
	LieBit     Lie = "bit"     // one bit is wrong
)

// RESPLies are the lies that a LyingRESP server knows.
var RESPLies = []Lie{LieStale, LieShort, LieNil, LieSwapped, LieError, LieClosed, LieBit}

// LyingRESP is a Redis server that knows only ECHO and answers it wrongly now
// and then.
type LyingRESP struct {
	Address string
	lie     Lie
	// requests counts ECHO over all connections, wrong the wrong replies.
	requests, wrong atomic.Int64
	// swaps is where a request finds another one to swap replies with.
	swaps chan swap
}

type swap struct {
	payload []byte
	other   chan []byte
}

// Wrong returns how many replies were wrong so far; a connection that was closed
// is one.
func (s *LyingRESP) Wrong() int64 { return s.wrong.Load() }

// StartLyingRESP starts a server for the time of the test.
func StartLyingRESP(t testing.TB, lie Lie) *LyingRESP {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &LyingRESP{Address: listener.Addr().String(), lie: lie, swaps: make(chan swap)}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			all.Go(func() {
				defer conn.Close()
				_ = s.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, conn := range open {
			conn.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return s
}

// serve answers one connection until it ends or has to be closed.
func (s *LyingRESP) serve(conn net.Conn) error {
	in, out := bufio.NewReaderSize(conn, 1<<16), bufio.NewWriterSize(conn, 1<<16)
	last := []byte{}
	for {
		args, err := readCommand(in)
		if err != nil {
			return err
		}
		if len(args) != 2 || string(args[0]) != "echo" {
			fmt.Fprintf(out, "-ERR unknown command '%s'\r\n", args[0])
		} else if err := s.echo(in, out, args[1], last); err != nil {
			return err
		} else {
			last = args[1]
		}
		if in.Buffered() > 0 {
			continue
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

func (s *LyingRESP) echo(in *bufio.Reader, out *bufio.Writer, payload, last []byte) error {
	if s.requests.Add(1)%10 != 0 {
		return bulk(out, payload)
	}
	s.wrong.Add(1)
	switch s.lie {
	case LieStale:
		return bulk(out, last)
	case LieShort:
		return bulk(out, payload[:len(payload)/2])
	case LieNil:
		_, err := out.WriteString("$-1\r\n")
		return err
	case LieError:
		_, err := out.WriteString("-ERR the server does not want to\r\n")
		return err
	case LieBit:
		payload[len(payload)-1] ^= 1
		err := bulk(out, payload)
		payload[len(payload)-1] ^= 1
		return err
	case LieSwapped:
		return s.swap(in, out, payload)
	default:
		return fmt.Errorf("closed")
	}
}

// swap changes replies with the next request of the same connection, or else
// with one of another connection; it is honest when there is none.
func (s *LyingRESP) swap(in *bufio.Reader, out *bufio.Writer, payload []byte) error {
	if in.Buffered() > 0 {
		next, err := readCommand(in)
		if err != nil {
			return err
		}
		s.requests.Add(1)
		s.wrong.Add(1)
		return bulk(out, next[1], payload)
	}
	mine := swap{payload, make(chan []byte, 1)}
	select {
	case other := <-s.swaps:
		other.other <- payload
		payload = other.payload
	case s.swaps <- mine:
		payload = <-mine.other
	case <-time.After(100 * time.Millisecond):
		s.wrong.Add(-1)
	}
	return bulk(out, payload)
}

func bulk(out *bufio.Writer, payloads ...[]byte) error {
	for _, p := range payloads {
		if _, err := fmt.Fprintf(out, "$%d\r\n%s\r\n", len(p), p); err != nil {
			return err
		}
	}
	return nil
}

// readCommand reads one array of bulk strings.
func readCommand(in *bufio.Reader) ([][]byte, error) {
	var n int
	if err := readHead(in, '*', &n); err != nil {
		return nil, err
	}
	args := make([][]byte, 0, 4)
	for range n {
		var size int
		if err := readHead(in, '$', &size); err != nil {
			return nil, err
		}
		arg := make([]byte, size+2)
		if _, err := io.ReadFull(in, arg); err != nil {
			return nil, err
		}
		args = append(args, arg[:size])
	}
	return args, nil
}

func readHead(in *bufio.Reader, mark byte, n *int) error {
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	if line[0] != mark {
		return fmt.Errorf("line %q, expected %q", line, mark)
	}
	_, err = fmt.Sscanf(line[1:], "%d\r\n", n)
	return err
}
