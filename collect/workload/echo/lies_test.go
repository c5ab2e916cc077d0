package echo

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"pairbench/collect/driver"
	"pairbench/records"
)

const (
	lieMessages = 4
	lieBytes    = 64
)

// A lie turns what a client sent, and sent before, into what it gets; nil closes
// the connection.
type lie struct {
	name string
	// wrong is how many operations of a batch of lieMessages come back wrong.
	wrong int64
	// says is part of the first error.
	says  string
	reply func(batch, before []byte) []byte
}

func edited(edit func([]byte)) func(batch, before []byte) []byte {
	return func(batch, _ []byte) []byte {
		edit(batch)
		return batch
	}
}

// tcpLies are told to the second batch of a connection, in bytes.
var tcpLies = []lie{
	{"one bit", 1, "differs at byte 63", edited(func(b []byte) { b[len(b)-1] ^= 1 })},
	{"zeros", lieMessages, "message 5: reply differs at byte 0", edited(func(b []byte) { clear(b) })},
	{"swapped", 2, "differs at byte 0", edited(func(b []byte) {
		first := bytes.Clone(b[:lieBytes])
		copy(b, b[lieBytes:2*lieBytes])
		copy(b[lieBytes:], first)
	})},
	{"stale", lieMessages, "differs at byte 0", func(_, before []byte) []byte { return before }},
	{"surplus", lieMessages, "more came back", func(batch, _ []byte) []byte { return append(batch, 'x') }},
	{"closed", lieMessages, "EOF", func(_, _ []byte) []byte { return nil }},
}

// listen serves every connection with handle and ends with the test.
func listen(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return l.Addr().String()
}

// tell echoes batches of lieMessages and tells the lie to the second of each
// connection.
func tell(l lie) func(net.Conn) {
	return func(c net.Conn) {
		var before []byte
		for n := 1; ; n++ {
			batch := make([]byte, lieMessages*lieBytes)
			if _, err := io.ReadFull(c, batch); err != nil {
				return
			}
			reply := batch
			if n == 2 {
				if reply = l.reply(bytes.Clone(batch), before); reply == nil {
					return
				}
			}
			if _, err := c.Write(reply); err != nil {
				return
			}
			before = batch
		}
	}
}

func lied(arm, address string) driver.Job {
	j := job(arm, 0, 10*lieMessages, "connections", 1, "in_flight", lieMessages, "payload_bytes", lieBytes)
	j.Service = &driver.Service{Address: address}
	return j
}

// mustFail checks that the result owns up to what was done to it.
func mustFail(t *testing.T, j driver.Job, w *Workload, l lie) {
	t.Helper()
	r, s := outcome(t, w)
	if r.Errors < l.wrong || r.Errors > lieMessages {
		t.Errorf("%d errors, expected at least %d: %s", r.Errors, l.wrong, r.FirstError)
	}
	if !strings.Contains(r.FirstError, l.says) {
		t.Errorf("first error is %q, expected %q in it", r.FirstError, l.says)
	}
	if int64(s.Len()) != r.Samples || r.Samples*max(j.OperationsPerSample, 1) != r.MeasuredOperations {
		t.Errorf("%d samples, %d in the columns, %d operations", r.Samples, s.Len(), r.MeasuredOperations)
	}
	if got, detail := driver.Check(j, r, &s, driver.Observed{}); got != records.OutcomeOperationErrors {
		t.Errorf("Check: %s: %s", got, detail)
	}
}

func TestTCPFindsLies(t *testing.T) {
	for _, arm := range arms() {
		for _, l := range tcpLies {
			t.Run(arm+"/"+l.name, func(t *testing.T) {
				j := lied(arm, listen(t, tell(l)))
				w, err := OpenTCP(j)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				mustFail(t, j, w, l)
			})
		}
	}
}

// A server that keeps a reply back makes what is in flight incomplete, and so is
// what could not be asked any more.
func TestStallIsIncomplete(t *testing.T) {
	swallow := func(c net.Conn) { io.Copy(io.Discard, c) }
	half := func(c net.Conn) {
		first := make([]byte, lieMessages*lieBytes)
		if _, err := io.ReadFull(c, first); err == nil {
			c.Write(first[:lieBytes+1])
		}
		swallow(c)
	}
	for _, arm := range arms() {
		for name, handle := range map[string]func(net.Conn){"nothing": swallow, "half": half} {
			t.Run(arm+"/"+name, func(t *testing.T) {
				j := lied(arm, listen(t, handle))
				j.Settings["request_limit_ms"] = 30
				w, err := OpenTCP(j)
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				r, s := outcome(t, w)
				if r.Incomplete != 10*lieMessages || r.Errors != 0 || r.MeasuredOperations != 0 || s.Len() != 0 {
					t.Errorf("result is %+v", r)
				}
				if r.FirstError != errStalled.Error() {
					t.Errorf("first error is %q", r.FirstError)
				}
			})
		}
	}
}

// What goes wrong in the warm-up is told apart, and a dead connection measures
// nothing.
func TestWarmupFailuresAreCounted(t *testing.T) {
	closed := lie{reply: func(_, _ []byte) []byte { return nil }}
	for _, arm := range arms() {
		t.Run(arm, func(t *testing.T) {
			j := lied(arm, listen(t, tell(closed)))
			j.Warmup.Operations = 3 * lieMessages
			w, err := OpenTCP(j)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			r, _ := outcome(t, w)
			// One batch went well, one failed, one could not be asked.
			if r.WarmupOperations != lieMessages || r.WarmupErrors != 2*lieMessages || r.Incomplete != 10*lieMessages {
				t.Errorf("result is %+v", r)
			}
		})
	}
}

func TestHTTPFindsLies(t *testing.T) {
	for _, l := range []lie{
		{"one bit", 1, "differs at byte 63", edited(func(b []byte) { b[len(b)-1] ^= 1 })},
		{"short", 1, "reply has 63 bytes, expected 64", func(b, _ []byte) []byte { return b[:lieBytes-1] }},
		{"empty", 1, "reply has 0 bytes", func(b, _ []byte) []byte { return b[:0] }},
		{"surplus", 1, "reply has 65 bytes", func(b, _ []byte) []byte { return append(b, 'x') }},
		{"stale", 1, "differs at byte 0", func(_, before []byte) []byte { return before }},
		{"closed", 1, "EOF", func(_, _ []byte) []byte { return nil }},
		{"status", 1, "status is 503", nil},
	} {
		t.Run(l.name, func(t *testing.T) {
			var bodies [][]byte
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return
				}
				bodies = append(bodies, body)
				if n := len(bodies); n == 3 {
					if l.reply == nil {
						w.WriteHeader(http.StatusServiceUnavailable)
						return
					}
					if body = l.reply(bytes.Clone(body), bodies[n-2]); body == nil {
						panic(http.ErrAbortHandler)
					}
				}
				w.Write(body)
			}))
			defer server.Close()
			j := job("goroutine", 0, 10, "connections", 1, "payload_bytes", lieBytes)
			j.Service = &driver.Service{Address: server.Listener.Addr().String()}
			w, err := OpenHTTP(j)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			mustFail(t, j, w, l)
		})
	}
}

func TestWebSocketFindsLies(t *testing.T) {
	type reply = func(c *websocket.Conn, message, before []byte) error
	send := func(kind int, edit func(m, before []byte) []byte) reply {
		return func(c *websocket.Conn, m, before []byte) error { return c.WriteMessage(kind, edit(m, before)) }
	}
	for _, l := range []struct {
		name, says string
		wrong      int64
		reply      reply
	}{
		{"one bit", "differs at byte 63", 1, send(websocket.BinaryMessage, func(m, _ []byte) []byte { m[63] ^= 1; return m })},
		{"short", "reply has 63 bytes", 1, send(websocket.BinaryMessage, func(m, _ []byte) []byte { return m[:63] })},
		{"surplus", "reply has 65 bytes", 1, send(websocket.BinaryMessage, func(m, _ []byte) []byte { return append(m, 'x') })},
		{"stale", "differs at byte 0", 1, send(websocket.BinaryMessage, func(_, before []byte) []byte { return before })},
		{"text", "reply is text", 1, send(websocket.TextMessage, func(m, _ []byte) []byte { return m })},
		{"closed", "EOF", lieMessages, func(c *websocket.Conn, _, _ []byte) error { return c.Close() }},
	} {
		t.Run(l.name, func(t *testing.T) {
			up := websocket.Upgrader{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c, err := up.Upgrade(w, r, nil)
				if err != nil {
					return
				}
				defer c.Close()
				var before []byte
				for n := 1; ; n++ {
					kind, m, err := c.ReadMessage()
					if err != nil {
						return
					}
					if n == lieMessages+2 {
						err = l.reply(c, slices.Clone(m), before)
					} else {
						err = c.WriteMessage(kind, m)
					}
					if err != nil {
						return
					}
					before = m
				}
			}))
			defer server.Close()
			j := lied("goroutine", server.Listener.Addr().String())
			w, err := OpenWebSocket(j)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			mustFail(t, j, w, lie{wrong: l.wrong, says: l.says})
		})
	}
}

func TestWrongServers(t *testing.T) {
	hangUp := listen(t, func(c net.Conn) {})
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	for _, c := range []struct {
		name    string
		address string
		open    func(driver.Job) (*Workload, error)
		says    string
	}{
		{"tcp, nobody listens", free.Addr().String(), OpenTCP, "connection refused"},
		{"tcp, no port", "127.0.0.1", OpenTCP, "missing port"},
		{"http, hangs up", hangUp, OpenHTTP, "first request"},
		{"http, no address", "no address", OpenHTTP, "invalid character"},
		{"websocket, hangs up", hangUp, OpenWebSocket, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := job("goroutine", 0, 16, "in_flight", 1)
			j.Service = &driver.Service{Address: c.address}
			w, err := c.open(j)
			if err == nil {
				w.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), c.says) && !strings.Contains(err.Error(), "connection reset") {
				t.Errorf("error is %q, expected %q in it", err, c.says)
			}
		})
	}
}
