package echoserver

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
)

// start serves until the test ends, and checks that Close ends everything.
func start(t testing.TB, p Protocol) string {
	t.Helper()
	s, err := Listen("127.0.0.1:0", p)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		s.Close()
		s.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.conns) != 0 {
			t.Errorf("%d connections are left", len(s.conns))
		}
	})
	return s.Address()
}

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(20 * time.Second))
	t.Cleanup(func() { c.Close() })
	return c
}

func command(args ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b.String()
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

func TestRESP(t *testing.T) {
	address := start(t, RESP2)
	binary := "\x00\r\n$5\r\n\xff*"
	for _, c := range []struct{ name, send, want string }{
		{"ping", command("PING"), "+PONG\r\n"},
		{"ping with a message", command("ping", "x"), bulk("x")},
		{"echo", command("ECHO", "hello"), bulk("hello")},
		{"echo, small letters", command("echo", ""), bulk("")},
		{"echo, binary", command("ECHO", binary), bulk(binary)},
		{"echo, large", command("ECHO", strings.Repeat("ab", 1<<20)), bulk(strings.Repeat("ab", 1<<20))},
		{"pipeline", command("ECHO", "1") + command("PING") + command("ECHO", "2"), bulk("1") + "+PONG\r\n" + bulk("2")},
		{"inline", "PING\r\nECHO  a \n\r\nPING\n", "+PONG\r\n" + bulk("a") + "+PONG\r\n"},
		{"empty array", "*0\r\n*-1\r\n" + command("PING"), "+PONG\r\n"},
		{"hello is unknown", command("HELLO", "3"), "-ERR unknown command \"HELLO\"\r\n"},
		{"name with line ends", command("A\r\nB"), "-ERR unknown command \"A\\r\\nB\"\r\n"},
		{"client", command("CLIENT", "SETINFO", "LIB-NAME", "x"), "+OK\r\n"},
		{"client alone", command("CLIENT"), "-ERR wrong number of arguments for \"CLIENT\"\r\n"},
		{"select", command("SELECT", "15") + command("SELECT", "16") + command("SELECT", "x") + command("SELECT"),
			"+OK\r\n-ERR DB index is out of range\r\n-ERR DB index is out of range\r\n-ERR wrong number of arguments for \"SELECT\"\r\n"},
		{"command", command("COMMAND", "DOCS"), "*0\r\n"},
		{"info", command("INFO"), bulk("# Server\r\nserver_name:pairbench\r\nredis_mode:standalone\r\n")},
		{"echo without argument", command("ECHO"), "-ERR wrong number of arguments for \"ECHO\"\r\n"},
		{"quit", command("QUIT") + command("PING"), "+OK\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, address)
			if !strings.HasPrefix(c.name, "quit") {
				c.send += command("QUIT")
				c.want += "+OK\r\n"
			}
			go io.WriteString(conn, c.send)
			got, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" && len(got) < 1000 {
				t.Error(diff)
			} else if diff != "" {
				t.Errorf("%d bytes differ from the %d expected", len(got), len(c.want))
			}
		})
	}
}

// A command that arrives byte for byte is one command.
func TestRESPInPieces(t *testing.T) {
	conn := dial(t, start(t, RESP2))
	go func() {
		for _, b := range []byte(command("ECHO", "in pieces") + command("QUIT")) {
			if _, err := conn.Write([]byte{b}); err != nil {
				return
			}
		}
	}()
	got, err := io.ReadAll(conn)
	if err != nil || string(got) != bulk("in pieces")+"+OK\r\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

// What breaks the protocol gets an error, the commands before it their answers,
// and the connection ends.
func TestRESPDamage(t *testing.T) {
	address := start(t, RESP2)
	for _, c := range []struct{ send, says string }{
		{"*x\r\n", "invalid multibulk length"},
		{"*\r\n", "invalid multibulk length"},
		{"*1025\r\n", "invalid multibulk length"},
		{"*99999999999999999999\r\n", "invalid multibulk length"},
		{"*1\r\n+PING\r\n", "expected '$', got '+'"},
		{"*1\r\n$-1\r\n", "invalid bulk length"},
		{"*1\r\n$67108865\r\n", "invalid bulk length"},
		{"*1\r\n$9999999999\r\n", "invalid bulk length"},
		{"*1\r\n$4\r\nPINGxx", "bulk string without end"},
		{"*2\r\n$1\r\nx\r\n$67108864\r\n" + strings.Repeat("x", 16), ""},
		{"*1\r\n$" + strings.Repeat("1", maxLineBytes), "too big inline request"},
		{strings.Repeat("x", maxLineBytes), "too big inline request"},
	} {
		name := c.send[:min(len(c.send), 20)]
		t.Run(name, func(t *testing.T) {
			conn := dial(t, address)
			io.WriteString(conn, command("PING")+c.send)
			if c.says == "" {
				conn.(*net.TCPConn).CloseWrite()
			}
			got, err := io.ReadAll(conn)
			if err != nil && len(got) == 0 {
				t.Fatal(err)
			}
			want := "+PONG\r\n"
			if c.says != "" {
				want += "-ERR Protocol error: " + c.says + "\r\n"
			}
			if string(got) != want {
				t.Errorf("got %q, expected %q", got, want)
			}
		})
	}
}

// A client that sends and never reads costs the server no memory: it is not
// read from any more.
func TestClientThatDoesNotRead(t *testing.T) {
	conn := dial(t, start(t, RESP2))
	conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	one := []byte(strings.Repeat(command("ECHO", strings.Repeat("x", 1000)), 100))
	for sent := 0; ; sent += len(one) {
		if _, err := conn.Write(one); err != nil {
			return
		}
		if sent > 256<<20 {
			t.Fatal("the server takes everything")
		}
	}
}

// FuzzRESP holds the parser to three things: it never fails, it uses no more
// than it was given, and its answers do not depend on how the input is cut.
func FuzzRESP(f *testing.F) {
	for _, seed := range []string{
		command("PING"), command("ECHO", "x") + command("QUIT"), "PING\r\n", "*1\r\n$-1\r\n", "*-1\r\n", "*0\r\n\n",
		"*2\r\n$4\r\nECHO\r\n$3\r\n\x00\r\n\r\n", "*1024\r\n", "$", "*1\r\n$", "*1\r\n$1\r\nx\r", "\r\n\r\n",
	} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, input []byte, cut uint8) {
		whole := answers(t, input, len(input))
		pieces := answers(t, input, int(cut)+1)
		if !bytes.Equal(whole, pieces) {
			t.Errorf("answers to %q: %q at once, %q in pieces of %d", input, whole, pieces, int(cut)+1)
		}
	})
}

// answers returns what a connection answers to input that comes in pieces.
func answers(t *testing.T, input []byte, piece int) []byte {
	out := &sink{}
	c := &respConn{conn: out}
	for {
		if err := c.answerAll(); err != nil {
			return append(append(out.got, c.out...), err.Error()...)
		}
		if c.read > len(c.in) {
			t.Fatalf("%d bytes used of %d", c.read, len(c.in))
		}
		if c.quit || len(input) == 0 {
			return append(out.got, c.out...)
		}
		n := min(max(piece, 1), len(input))
		c.in = append(c.in, input[:n]...)
		input = input[n:]
	}
}

type sink struct {
	net.Conn
	got []byte
}

func (s *sink) Write(p []byte) (int, error) {
	s.got = append(s.got, p...)
	return len(p), nil
}

func TestTCP(t *testing.T) {
	conn := dial(t, start(t, TCP))
	want := bytes.Repeat([]byte("0123456789"), 100_000)
	go func() {
		conn.Write(want)
		conn.(*net.TCPConn).CloseWrite()
	}()
	if got, err := io.ReadAll(conn); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back of %d: %v", len(got), len(want), err)
	}
}

func TestHTTP(t *testing.T) {
	url := "http://" + start(t, HTTP) + "/"
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	large := strings.Repeat("x", 3<<20)
	for _, c := range []struct {
		name, method string
		body         io.Reader
		status       int
		want         string
	}{
		{"post", "POST", strings.NewReader("\x00\xff body"), 200, "\x00\xff body"},
		{"empty", "POST", strings.NewReader(""), 200, ""},
		{"large", "POST", strings.NewReader(large), 200, large},
		{"chunked", "POST", io.MultiReader(strings.NewReader("a"), strings.NewReader("b")), 200, "ab"},
		{"get", "GET", nil, 405, "expected POST\n"},
		{"too large", "POST", io.LimitReader(endless{}, MaxPayloadBytes+1), 400, "body cannot be read or is too large\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.NewRequest(c.method, url, c.body)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			got, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != c.status || string(got) != c.want {
				t.Errorf("status %d, %d bytes, %v; expected %d, %d bytes", response.StatusCode, len(got), err, c.status, len(c.want))
			}
		})
	}
	t.Run("announced too large", func(t *testing.T) {
		conn := dial(t, strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", MaxPayloadBytes+1)
		line := make([]byte, 12)
		if _, err := io.ReadFull(conn, line); err != nil || string(line) != "HTTP/1.1 413" {
			t.Errorf("got %q, %v", line, err)
		}
	})
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestWebSocket(t *testing.T) {
	address := start(t, WebSocket)
	c, _, err := websocket.DefaultDialer.Dial("ws://"+address+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, m := range []struct {
		kind int
		text string
	}{
		{websocket.BinaryMessage, "\x00\xff"}, {websocket.TextMessage, "text"}, {websocket.BinaryMessage, ""},
		{websocket.BinaryMessage, strings.Repeat("x", 3<<20)}, {websocket.BinaryMessage, "small again"},
	} {
		if err := c.WriteMessage(m.kind, []byte(m.text)); err != nil {
			t.Fatal(err)
		}
		kind, got, err := c.ReadMessage()
		if err != nil || kind != m.kind || string(got) != m.text {
			t.Errorf("kind %d, %d bytes, %v; expected %d, %d bytes", kind, len(got), err, m.kind, len(m.text))
		}
	}
	response, err := http.Get("http://" + address + "/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("status of a plain request is %d", response.StatusCode)
	}
}

func TestListenErrors(t *testing.T) {
	if _, err := Listen("127.0.0.1:0", "smtp"); err == nil || err.Error() != `listen on 127.0.0.1:0: protocol is "smtp", expected resp2, tcp, http, websocket` {
		t.Errorf("unknown protocol: %v", err)
	}
	if _, err := Listen(start(t, TCP), TCP); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("address in use: %v", err)
	}
}

// More connections than are served at once wait, and are served in their turn.
func TestConnectionsAreBounded(t *testing.T) {
	s, err := Listen("127.0.0.1:0", TCP)
	if err != nil {
		t.Fatal(err)
	}
	s.slots = make(chan struct{}, 2)
	go s.Serve()
	defer s.Close()
	first, second, third := dial(t, s.Address()), dial(t, s.Address()), dial(t, s.Address())
	ask := func(c net.Conn) error {
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		_, err := io.ReadFull(c, make([]byte, 1))
		return err
	}
	for _, c := range []net.Conn{first, second} {
		if err := ask(c); err != nil {
			t.Fatal(err)
		}
	}
	first.Close()
	if err := ask(third); err != nil {
		t.Fatal(err)
	}
}
