package echoserver

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// Bounds of one RESP2 command. An inline command and the header of an array or
// bulk string fit into maxLineBytes.
const (
	maxArguments    = 1024
	maxLineBytes    = 64 << 10
	maxCommandBytes = MaxPayloadBytes + maxLineBytes
	bufferBytes     = 16 << 10
	// keepBytes is the largest buffer that a connection keeps between commands.
	keepBytes = 1 << 20
)

// errShort says that the command is not complete yet.
var errShort = errors.New("command is not complete")

// protocolError is sent to the client before its connection is closed.
type protocolError string

func (e protocolError) Error() string { return "Protocol error: " + string(e) }

// respConn reads commands from in[read:] and collects replies in out.
type respConn struct {
	conn net.Conn
	in   []byte
	read int
	out  []byte
	args [][]byte
	quit bool
}

func serveRESP(conn net.Conn) {
	c := &respConn{conn: conn, in: make([]byte, 0, bufferBytes), out: make([]byte, 0, bufferBytes)}
	for {
		if err := c.answerAll(); err != nil {
			c.out = appendError(c.out, "ERR "+err.Error())
			c.quit = true
		}
		if c.flush() != nil || c.quit {
			return
		}
		if c.fill() != nil {
			return
		}
	}
}

// answerAll answers every complete command in the buffer.
func (c *respConn) answerAll() error {
	for !c.quit && c.read < len(c.in) {
		used, err := c.parse(c.in[c.read:])
		if err == errShort {
			return nil
		}
		if err != nil {
			return err
		}
		if len(c.args) > 0 {
			c.answer()
		}
		c.read += used
		if len(c.out) >= tcpBufferBytes {
			if err := c.flush(); err != nil {
				c.quit = true
			}
		}
	}
	return nil
}

func (c *respConn) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.conn.Write(c.out)
	if cap(c.out) > keepBytes {
		c.out = make([]byte, 0, bufferBytes)
	}
	c.out = c.out[:0]
	return err
}

// fill reads once. The buffer doubles when it is full of an incomplete command,
// so memory never exceeds twice what has arrived.
func (c *respConn) fill() error {
	rest := c.in[c.read:]
	switch {
	case len(rest) == 0 && cap(c.in) > keepBytes:
		c.in = make([]byte, 0, bufferBytes)
	case c.read > 0:
		c.in = c.in[:copy(c.in[:cap(c.in)], rest)]
	case len(rest) == cap(c.in):
		grown := make([]byte, len(rest), 2*cap(c.in))
		copy(grown, rest)
		c.in = grown
	}
	c.read = 0
	n, err := c.conn.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	if n > 0 {
		return nil
	}
	return err
}

// parse sets c.args to the first command in p, in place, and returns its length
// in bytes. The arguments are valid until the next fill.
func (c *respConn) parse(p []byte) (int, error) {
	c.args = c.args[:0]
	line, at, err := cutLine(p)
	if err != nil {
		return 0, err
	}
	if p[0] != '*' {
		c.args = append(c.args, bytes.Fields(line)...)
		return at, nil
	}
	count, ok := parseLength(line[1:])
	if !ok || count > maxArguments {
		return 0, protocolError("invalid multibulk length")
	}
	for range count {
		if at == len(p) {
			return 0, errShort
		}
		if p[at] != '$' {
			return 0, protocolError(fmt.Sprintf("expected '$', got %q", p[at]))
		}
		line, used, err := cutLine(p[at:])
		if err != nil {
			return 0, err
		}
		size, ok := parseLength(line[1:])
		if !ok || size < 0 || size > MaxPayloadBytes {
			return 0, protocolError("invalid bulk length")
		}
		at += used
		if at+size+2 > maxCommandBytes {
			return 0, protocolError("too big request")
		}
		if at+size+2 > len(p) {
			return 0, errShort
		}
		if p[at+size] != '\r' || p[at+size+1] != '\n' {
			return 0, protocolError("bulk string without end")
		}
		c.args = append(c.args, p[at:at+size])
		at += size + 2
	}
	return at, nil
}

// cutLine returns the first line of p without its end, and its length with it.
func cutLine(p []byte) (line []byte, used int, err error) {
	i := bytes.IndexByte(p[:min(len(p), maxLineBytes)], '\n')
	if i < 0 {
		if len(p) >= maxLineBytes {
			return nil, 0, protocolError("too big inline request")
		}
		return nil, 0, errShort
	}
	return bytes.TrimSuffix(p[:i], []byte{'\r'}), i + 1, nil
}

// parseLength reads the decimal number of a header; -1 is the only negative one.
func parseLength(p []byte) (int, bool) {
	if string(p) == "-1" {
		return -1, true
	}
	if len(p) == 0 || len(p) > 10 {
		return 0, false
	}
	n := 0
	for _, d := range p {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int(d-'0')
	}
	return n, true
}

// answer appends the reply to c.args.
func (c *respConn) answer() {
	name, args := c.args[0], c.args[1:]
	switch {
	case bytes.EqualFold(name, []byte("ECHO")) && len(args) == 1:
		c.out = appendBulk(c.out, args[0])
	case bytes.EqualFold(name, []byte("PING")) && len(args) == 0:
		c.out = append(c.out, "+PONG\r\n"...)
	case bytes.EqualFold(name, []byte("PING")) && len(args) == 1:
		c.out = appendBulk(c.out, args[0])
	default:
		c.out = c.answerRare(string(bytes.ToUpper(name[:min(len(name), 64)])), args)
	}
}

// answerRare answers the commands that clients send around the measured ones.
// HELLO is unknown, as in servers without RESP3, and clients fall back.
func (c *respConn) answerRare(name string, args [][]byte) []byte {
	switch name {
	case "QUIT":
		c.quit = true
		return append(c.out, "+OK\r\n"...)
	case "SELECT":
		if len(args) == 1 {
			if db, ok := parseLength(args[0]); ok && db >= 0 && db < 16 {
				return append(c.out, "+OK\r\n"...)
			}
			return appendError(c.out, "ERR DB index is out of range")
		}
	case "CLIENT":
		if len(args) > 0 {
			return append(c.out, "+OK\r\n"...)
		}
	case "COMMAND":
		return append(c.out, "*0\r\n"...)
	case "INFO":
		return appendBulk(c.out, []byte("# Server\r\nserver_name:pairbench\r\nredis_mode:standalone\r\n"))
	case "ECHO", "PING":
	default:
		return appendError(c.out, fmt.Sprintf("ERR unknown command %q", name))
	}
	return appendError(c.out, fmt.Sprintf("ERR wrong number of arguments for %q", name))
}

func appendBulk(out, p []byte) []byte {
	out = append(out, '$')
	out = strconv.AppendInt(out, int64(len(p)), 10)
	out = append(out, '\r', '\n')
	out = append(out, p...)
	return append(out, '\r', '\n')
}

func appendError(out []byte, text string) []byte {
	out = append(out, '-')
	out = append(out, text...)
	return append(out, '\r', '\n')
}
