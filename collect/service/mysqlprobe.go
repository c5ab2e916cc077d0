package service

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// The probe speaks as much of the MySQL protocol as a login over TLS needs:
//
//	server  greeting: version, salt, authentication method
//	client  request for TLS; TLS handshake
//	client  user, answer to the salt, database
//	server  ok, error, another method, or "the password itself, please"
//
// The drivers' client library stays out of the collector, and what the probe
// finds does not depend on it.

// Capabilities of the protocol that the probe needs or offers.
const (
	capLongPassword  = 1 << 0
	capWithDatabase  = 1 << 3
	capProtocol41    = 1 << 9
	capTLS           = 1 << 11
	capSecure        = 1 << 15
	capPluginAuth    = 1 << 19
	maxHandshake     = 64 << 10
	charsetUTF8MB4   = 45
	statusOK         = 0x00
	statusMore       = 0x01
	statusSwitch     = 0xfe
	statusError      = 0xff
	cachedFastOK     = 3
	cachedFullNeeded = 4
)

// errNoTLS is a server that a verifying client must not talk to.
var errNoTLS = errors.New("the server offers no TLS")

// mysqlLogin is what a login tells.
type mysqlLogin struct{ version, tls string }

// loginMySQL logs in over TLS and leaves. With config nil it logs in without
// TLS, which only the probe of a server with that fault does.
func loginMySQL(ctx context.Context, conn net.Conn, config *tls.Config, user, password, database string) (mysqlLogin, error) {
	c := &mysqlConn{rw: conn, in: bufio.NewReader(conn)}
	greeting, err := c.read()
	if err != nil {
		return mysqlLogin{}, fmt.Errorf("read the greeting: %w", err)
	}
	hello, err := parseGreeting(greeting)
	if err != nil {
		return mysqlLogin{}, err
	}
	login := mysqlLogin{version: hello.version}
	flags := uint32(capLongPassword | capProtocol41 | capSecure | capPluginAuth)
	if database != "" {
		flags |= capWithDatabase
	}
	if config != nil {
		if hello.capabilities&capTLS == 0 {
			return login, errNoTLS
		}
		flags |= capTLS
		if err := c.write(responseHead(flags)); err != nil {
			return login, fmt.Errorf("ask for TLS: %w", err)
		}
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			return login, fmt.Errorf("verify the server: %w", err)
		}
		login.tls = describeTLS(secure.ConnectionState())
		c.rw, c.in = secure, bufio.NewReader(secure)
	}
	answer, err := scramble(hello.method, password, hello.salt)
	if err != nil {
		return login, err
	}
	response := append(responseHead(flags), user...)
	response = append(response, 0, byte(len(answer)))
	response = append(response, answer...)
	if database != "" {
		response = append(append(response, database...), 0)
	}
	response = append(append(response, hello.method...), 0)
	if err := c.write(response); err != nil {
		return login, fmt.Errorf("log in: %w", err)
	}
	return login, c.finishLogin(password, config != nil)
}

// finishLogin follows the server until it says yes or no.
func (c *mysqlConn) finishLogin(password string, secure bool) error {
	for {
		packet, err := c.read()
		if err != nil {
			return fmt.Errorf("log in: %w", err)
		}
		switch packet[0] {
		case statusOK:
			return c.quit()
		case statusError:
			return fmt.Errorf("log in: %w", mysqlError(packet))
		case statusSwitch:
			method, salt, _ := bytes.Cut(packet[1:], []byte{0})
			answer, err := scramble(string(method), password, bytes.TrimRight(salt, "\x00"))
			if err == nil {
				err = c.write(answer)
			}
			if err != nil {
				return fmt.Errorf("log in: %w", err)
			}
		case statusMore:
			if len(packet) > 1 && packet[1] == cachedFastOK {
				continue
			}
			if len(packet) < 2 || packet[1] != cachedFullNeeded || !secure {
				return errors.New("log in: the server wants a way to log in that the probe does not know")
			}
			if err := c.write(append([]byte(password), 0)); err != nil {
				return fmt.Errorf("log in: %w", err)
			}
		default:
			return fmt.Errorf("log in: unexpected packet of type %#x", packet[0])
		}
	}
}

// quit says goodbye, so that the server does not log an aborted connection.
func (c *mysqlConn) quit() error {
	c.sequence = 0
	return c.write([]byte{1})
}

// mysqlConn frames packets: a length of three bytes, a sequence number.
type mysqlConn struct {
	rw       io.ReadWriter
	in       *bufio.Reader
	sequence byte
}

func (c *mysqlConn) read() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return nil, err
	}
	size := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if size == 0 || size > maxHandshake {
		return nil, fmt.Errorf("a packet of %d bytes: that is no MySQL server", size)
	}
	c.sequence = head[3] + 1
	packet := make([]byte, size)
	_, err := io.ReadFull(c.in, packet)
	return packet, err
}

func (c *mysqlConn) write(payload []byte) error {
	n := len(payload)
	packet := append([]byte{byte(n), byte(n >> 8), byte(n >> 16), c.sequence}, payload...)
	c.sequence++
	_, err := c.rw.Write(packet)
	return err
}

// responseHead is the request for TLS, and the head of the login.
func responseHead(flags uint32) []byte {
	head := binary.LittleEndian.AppendUint32(nil, flags)
	head = binary.LittleEndian.AppendUint32(head, 1<<24)
	head = append(head, charsetUTF8MB4)
	return append(head, make([]byte, 23)...)
}

type mysqlGreeting struct {
	version, method string
	salt            []byte
	capabilities    uint32
}

// parseGreeting reads protocol version 10:
// version NUL, thread 4, salt 8, NUL, capabilities 2, charset 1, status 2,
// capabilities 2, salt length 1, reserved 10, rest of salt, method NUL.
func parseGreeting(packet []byte) (mysqlGreeting, error) {
	var g mysqlGreeting
	if packet[0] == statusError {
		return g, mysqlError(packet)
	}
	version, rest, ok := bytes.Cut(packet[1:], []byte{0})
	if packet[0] != 10 || !ok || len(rest) < 31 {
		return g, fmt.Errorf("the greeting is of protocol %d, expected 10: that is no MySQL server", packet[0])
	}
	// MariaDB puts an old version before its own, for the sake of old clients.
	g.version = strings.TrimPrefix(string(version), "5.5.5-")
	g.capabilities = uint32(binary.LittleEndian.Uint16(rest[13:])) | uint32(binary.LittleEndian.Uint16(rest[18:]))<<16
	saltRest := max(13, int(rest[20])-8)
	g.salt = append(g.salt, rest[4:12]...)
	if len(rest) < 31+saltRest {
		return g, errors.New("the greeting ends in its salt")
	}
	g.salt = append(g.salt, rest[31:31+saltRest-1]...)
	method, _, _ := bytes.Cut(rest[31+saltRest:], []byte{0})
	g.method = string(method)
	return g, nil
}

// scramble answers a salt: with the password's hash, mixed so that neither can
// be read from the wire.
func scramble(method, password string, salt []byte) ([]byte, error) {
	if password == "" {
		return nil, nil
	}
	switch method {
	case "mysql_native_password":
		once := sha1.Sum([]byte(password))
		twice := sha1.Sum(once[:])
		mix := sha1.Sum(append(append([]byte(nil), salt...), twice[:]...))
		return xor(once[:], mix[:]), nil
	case "caching_sha2_password":
		once := sha256.Sum256([]byte(password))
		twice := sha256.Sum256(once[:])
		mix := sha256.Sum256(append(append([]byte(nil), twice[:]...), salt...))
		return xor(once[:], mix[:]), nil
	}
	return nil, fmt.Errorf("log in: the server wants %s, expected mysql_native_password or caching_sha2_password", method)
}

func xor(a, b []byte) []byte {
	for i := range a {
		a[i] ^= b[i]
	}
	return a
}

// mysqlError reads an error packet: 0xff, number 2, # and state 6, text.
func mysqlError(packet []byte) error {
	if len(packet) < 3 {
		return errors.New("the server says no")
	}
	text := packet[3:]
	if len(text) >= 6 && text[0] == '#' {
		text = text[6:]
	}
	return fmt.Errorf("the server says: error %d: %s", binary.LittleEndian.Uint16(packet[1:]), text)
}
