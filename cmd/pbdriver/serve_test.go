package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// serving runs serve with a pipe on stdin and returns the address it prints, the
// other end of the pipe, and the exit code to come.
func serving(t *testing.T, ctx context.Context, args ...string) (address string, stdin *os.File, code <-chan int) {
	t.Helper()
	in, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout := io.Pipe()
	t.Cleanup(func() { in.Close(); stdin.Close(); out.Close() })
	ended := make(chan int, 1)
	go func() {
		ended <- serve(ctx, args, in, stdout, io.Discard)
		stdout.Close()
	}()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var ready struct{ Address string }
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatalf("first line is %q: %v", line, err)
	}
	return ready.Address, stdin, ended
}

func mustEnd(t *testing.T, code <-chan int) {
	t.Helper()
	select {
	case got := <-code:
		if got != 0 {
			t.Errorf("exit code %d, expected 0", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server does not stop")
	}
}

func TestServeStopsWithStdin(t *testing.T) {
	address, stdin, code := serving(t, context.Background(), "--protocol", "tcp")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	mustEnd(t, code)
}

func TestServeStopsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, _, code := serving(t, ctx)
	cancel()
	mustEnd(t, code)
}

func TestServeUsage(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"--protocol smtp", 1, "expected resp2, tcp, http, websocket"},
		{"--listen nowhere", 1, "missing port"},
		{"--cpus x", 2, `cpus is "x", expected a list like 0,2-3`},
		{"--cpus 3-2", 2, "expected a list like 0,2-3"},
		{"--cpus 9999", 2, "expected a list like 0,2-3"},
		{"--nothing", 2, "not defined: -nothing"},
		{"stray", 2, `unexpected argument "stray"`},
		{"--help", 0, ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := serve(context.Background(), strings.Fields(c.args), null, &stdout, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("exit code %d, stderr %q; expected %d, %q in it", code, stderr.String(), c.code, c.says)
			}
			if c.code == 0 && !strings.HasPrefix(stdout.String(), "usage:") {
				t.Errorf("stdout is %q", stdout.String())
			}
		})
	}
}

func TestParseCPUs(t *testing.T) {
	got, err := parseCPUs("0,2-4,7")
	if err != nil || len(got) != 5 || got[0] != 0 || got[1] != 2 || got[3] != 4 || got[4] != 7 {
		t.Errorf("parseCPUs = %v, %v", got, err)
	}
}
