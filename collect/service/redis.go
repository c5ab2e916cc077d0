package service

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"pairbench/collect/driver"
)

// redisOwn are the settings that the managed mode sets itself.
var redisOwn = []string{"port", "bind", "dir", "daemonize", "logfile", "save", "appendonly", "unixsocket", "pidfile", "supervised"}

func (i *Instance) startRedis(ctx context.Context) error {
	binary, err := i.spec.findServer([]string{"redis-server", "valkey-server"}, "redis-server")
	if err != nil {
		return err
	}
	settings, err := i.spec.settings(redisOwn)
	if err != nil {
		return err
	}
	return i.onPort(ctx, func(ctx context.Context, host, port string) error {
		argv := []string{binary, "--port", port, "--bind", host, "--dir", i.dir.path,
			"--save", "", "--appendonly", "no", "--daemonize", "no", "--logfile", ""}
		for _, setting := range settings {
			name, value, _ := strings.Cut(setting, "=")
			argv = append(argv, "--"+name, value)
		}
		i.record(argv, port)
		i.Service = driver.Service{Address: net.JoinHostPort(host, port)}
		return i.launch(ctx, argv, nil, func(ctx context.Context) error {
			info, err := i.probeRedis(ctx)
			if err != nil {
				return err
			}
			// Another server may have got the port first; ours then ends by itself.
			if pid := info["process_id"]; pid != strconv.Itoa(i.Pid) {
				return fmt.Errorf("process %s answers at %s, expected %d", pid, i.Service.Address, i.Pid)
			}
			return nil
		})
	})
}

// probeRedis authenticates where there is a password, pings, and asks for the
// server's facts.
func (i *Instance) probeRedis(ctx context.Context) (map[string]string, error) {
	conn, err := i.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	c := redisConn{conn: conn, in: bufio.NewReader(conn)}
	if len(i.secrets) > 0 {
		auth := []string{"AUTH", i.secrets[0]}
		if i.Service.User != "" {
			auth = []string{"AUTH", i.Service.User, i.secrets[0]}
		}
		if _, err := c.ask("OK", auth...); err != nil {
			return nil, err
		}
	}
	if _, err := c.ask("PONG", "PING"); err != nil {
		return nil, err
	}
	text, err := c.ask("", "INFO", "server")
	if err != nil {
		// A server that answers PING and knows no INFO is of unknown make.
		var said redisError
		if errors.As(err, &said) {
			return nil, nil
		}
		return nil, err
	}
	facts := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			facts[name] = value
		}
	}
	i.Product, i.Version = "redis", facts["redis_version"]
	if version, ok := facts["valkey_version"]; ok {
		i.Product, i.Version = "valkey", version
	}
	return facts, nil
}

// dial connects to the service, with TLS where it has a CA file.
func (i *Instance) dial(ctx context.Context) (net.Conn, error) {
	conn, err := i.dialPlain(ctx)
	if err != nil || i.Service.CAFile == "" {
		return conn, err
	}
	config, err := verifyingConfig(i.Service.CAFile, i.serverName())
	if err != nil {
		conn.Close()
		return nil, err
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("verify the server: %w", err)
	}
	i.TLS = describeTLS(secure.ConnectionState())
	return secure, nil
}

// dialLimit bounds one attempt to talk to a server that may not be one.
const dialLimit = 5 * time.Second

func (i *Instance) dialPlain(ctx context.Context) (net.Conn, error) {
	deadline := time.Now().Add(dialLimit)
	if limit, ok := ctx.Deadline(); ok && limit.Before(deadline) {
		deadline = limit
	}
	dialer := net.Dialer{Deadline: deadline}
	conn, err := dialer.DialContext(ctx, "tcp", i.Service.Address)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(deadline); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// redisError is an error reply.
type redisError string

func (e redisError) Error() string { return "the server says: " + string(e) }

// redisConn asks one question after the other.
type redisConn struct {
	conn io.Writer
	in   *bufio.Reader
}

// maxReply bounds one reply of the probe.
const maxReply = 1 << 20

// ask sends one command and returns its simple or bulk reply; want, where set,
// is the only right one.
func (c redisConn) ask(want string, command ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(command))
	for _, word := range command {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(c.conn, b.String()); err != nil {
		return "", fmt.Errorf("send %s: %w", command[0], err)
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return "", fmt.Errorf("read the reply to %s: %w", command[0], err)
	}
	reply := strings.TrimRight(string(line), "\r\n")
	switch {
	case strings.HasPrefix(reply, "-"):
		return "", fmt.Errorf("%s: %w", command[0], redisError(reply[1:]))
	case strings.HasPrefix(reply, "$"):
		size, err := strconv.Atoi(reply[1:])
		if err != nil || size < 0 || size > maxReply {
			return "", fmt.Errorf("read the reply to %s: length is %q, expected at most %d", command[0], reply[1:], maxReply)
		}
		bulk := make([]byte, size+2)
		if _, err := io.ReadFull(c.in, bulk); err != nil {
			return "", fmt.Errorf("read the reply to %s: %w", command[0], err)
		}
		reply = string(bulk[:size])
	case strings.HasPrefix(reply, "+"):
		reply = reply[1:]
	default:
		return "", fmt.Errorf("the reply to %s is %q: that is no redis server", command[0], reply)
	}
	if want != "" && reply != want {
		return "", fmt.Errorf("the reply to %s is %q, expected %s", command[0], reply, want)
	}
	return reply, nil
}
