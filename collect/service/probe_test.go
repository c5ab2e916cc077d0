package service

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// greeting is what a MariaDB 10.11 says first, without its header.
const greeting = "\x0a5.5.5-10.11.6-MariaDB\x00\x04\x00\x00\x00saltsalt\x00\xfe\xff\x2d\x02\x00\xff\x81\x15" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00saltsaltsalt\x00mysql_native_password\x00"

func TestParseGreeting(t *testing.T) {
	got, err := parseGreeting([]byte(greeting))
	if err != nil {
		t.Fatal(err)
	}
	if got.version != "10.11.6-MariaDB" || got.method != "mysql_native_password" || string(got.salt) != "saltsaltsaltsaltsalt" ||
		got.capabilities&capTLS == 0 {
		t.Errorf("greeting is read as %+v", got)
	}
	for length := 1; length < len(greeting)-len("mysql_native_password\x00"); length++ {
		if _, err := parseGreeting([]byte(greeting[:length])); err == nil {
			t.Errorf("a greeting cut to %d bytes is read without error", length)
		}
	}
	if _, err := parseGreeting([]byte("\xff\x10\x04Too many connections")); err == nil || !strings.Contains(err.Error(), "1040: Too many") {
		t.Errorf("error is %v, expected the server's own", err)
	}
}

func FuzzParseGreeting(f *testing.F) {
	f.Add([]byte(greeting))
	f.Add([]byte("\xff\x10\x04#08004Too many connections"))
	f.Add([]byte{10})
	f.Fuzz(func(t *testing.T, packet []byte) {
		if len(packet) == 0 {
			return // a packet of no bytes is refused before
		}
		if got, err := parseGreeting(packet); err == nil && len(got.salt) < 20 {
			t.Errorf("a salt of %d bytes, expected at least 20", len(got.salt))
		}
	})
}

// script is a server that says its lines whatever it is told.
type script struct {
	io.Reader
	sent bytes.Buffer
}

func (s *script) Write(p []byte) (int, error) { return s.sent.Write(p) }

func FuzzRedisReply(f *testing.F) {
	for _, reply := range []string{"+PONG\r\n", "$4\r\nPONG\r\n", "-ERR no\r\n", ":1\r\n", "$-1\r\n", "$99999999\r\n", "$3\r\nab", "", "HTTP/1.1 400 Bad Request\r\n"} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		s := &script{Reader: strings.NewReader(reply)}
		c := redisConn{conn: s, in: bufio.NewReader(s)}
		got, err := c.ask("PONG", "PING")
		if err == nil && got != "PONG" {
			t.Errorf("reply %q is taken for %q", reply, got)
		}
		if sent := s.sent.String(); sent != "*1\r\n$4\r\nPING\r\n" {
			t.Errorf("sent %q", sent)
		}
	})
}

// A server that never stops talking, or that breaks off, is an error in time.
func TestHostileServers(t *testing.T) {
	for name, said := range map[string]string{
		"endless line": strings.Repeat("x", 1<<20),
		"nothing":      "",
		"http":         "HTTP/1.1 400 Bad Request\r\n\r\n",
		"huge bulk":    "$999999999999\r\n",
		"no packet":    "\xff\xff\xff\x00",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				io.WriteString(conn, said)
				conn.Close()
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		for _, spec := range []Spec{
			{Name: "s", Kind: Redis, Mode: External, Address: listener.Addr().String()},
			{Name: "s", Kind: MySQL, Mode: External, Address: listener.Addr().String(), CAFile: caFile(t), ServerName: "x"},
		} {
			if _, err := Start(ctx, spec); err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, %s: error is %v, expected one at once", name, spec.Kind, err)
			}
		}
		cancel()
		listener.Close()
	}
}

func caFile(t *testing.T) string {
	t.Helper()
	m, err := newMaterial(FaultNone, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := newPrivateDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.remove(); err != nil {
			t.Error(err)
		}
	})
	path, err := dir.write("ca.pem", m.caPEM)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
