package service

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// Kind is what a service speaks.
type Kind string

// The kinds.
const (
	Redis Kind = "redis"
	MySQL Kind = "mysql"
	Echo  Kind = "echo"
)

// Mode says where the server comes from.
type Mode string

// The modes.
const (
	Managed  Mode = "managed"
	Embedded Mode = "embedded"
	External Mode = "external"
)

// PasswordEnv names the variable in which a driver finds the service's
// password.
const PasswordEnv = "PAIRBENCH_SERVICE_PASSWORD"

// DefaultReadyLimit bounds the time until a server answers.
const DefaultReadyLimit = 30 * time.Second

// Spec says which server is wanted.
type Spec struct {
	// Name is the plan's name for the service; it appears in every message.
	Name string
	Kind Kind
	Mode Mode
	// Address is host:port: of the external server, or a fixed loopback address
	// for a managed or embedded one. Empty lets those choose a free port.
	Address string
	// Program is the server's binary; empty looks for the usual names on the
	// PATH. For the embedded mode it is pbdriver and must be set.
	Program string
	// Protocol of an embedded echo service: tcp, http or websocket; an embedded
	// redis speaks resp2.
	Protocol string
	// CPUs pins a managed or embedded server.
	CPUs []int
	// Dir is where the private directory is made; empty is the system's
	// directory for temporary files.
	Dir string
	// Options are further settings of a managed server, name to value, given as
	// --name=value. The one for MySQL that is not the server's own is tls, whose
	// only value is required.
	Options map[string]string
	// User, PasswordEnv or PasswordFile, Database, CAFile and ServerName are for
	// external servers. CAFile means TLS with full verification.
	User, PasswordEnv, PasswordFile, Database, CAFile, ServerName string
	// ReadyLimit bounds the time until the server answers; zero is
	// DefaultReadyLimit.
	ReadyLimit time.Duration
	// Redact is applied to a server's own words before they enter an error; nil
	// leaves them. The service's secrets are always taken out.
	Redact func([]byte) []byte
	// Fault makes a managed MySQL wrong on purpose, for tests of clients.
	Fault Fault
}

// Fault is what is wrong with a managed MySQL server's TLS.
type Fault string

// The faults. A client that verifies must refuse each of them.
const (
	FaultNone      Fault = ""
	FaultOtherCA   Fault = "other_ca"   // the CA file is not the issuer's
	FaultExpired   Fault = "expired"    // the server's certificate is out of date
	FaultWrongName Fault = "wrong_name" // it is another host's
	FaultNoTLS     Fault = "no_tls"     // the server offers no TLS
)

func (s Spec) check() error {
	switch s.Mode {
	case Managed:
		if s.Kind != Redis && s.Kind != MySQL {
			return s.errorf("start", "kind %q has no managed mode, expected redis or mysql", s.Kind)
		}
	case Embedded:
		if s.Kind != Redis && s.Kind != Echo {
			return s.errorf("start", "kind %q has no embedded mode, expected redis or echo", s.Kind)
		}
		if s.Program == "" {
			return s.errorf("start", "the embedded server needs the path of pbdriver")
		}
	case External:
		if s.Address == "" {
			return s.errorf("connect", "an external service needs an address")
		}
	default:
		return s.errorf("start", "mode is %q, expected managed, embedded or external", s.Mode)
	}
	if s.Address == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil || port == "" {
		return s.errorf("start", "address is %q, expected host:port", s.Address)
	}
	if ip := net.ParseIP(host); s.Mode != External && (ip == nil || !ip.IsLoopback()) {
		return s.errorf("start", "address is %q, expected a loopback address: a %s server is private", s.Address, s.Mode)
	}
	return nil
}

// errorf makes the errors of this package: verb, service, cause.
func (s Spec) errorf(verb, format string, args ...any) error {
	return fmt.Errorf("%s service %s: %w", verb, s.Name, fmt.Errorf(format, args...))
}

// password reads the secret that the spec names; empty where it names none.
func (s Spec) password() (string, error) {
	switch {
	case s.PasswordEnv != "":
		value, ok := os.LookupEnv(s.PasswordEnv)
		if !ok {
			return "", fmt.Errorf("the password's variable %s is not set", s.PasswordEnv)
		}
		return value, nil
	case s.PasswordFile != "":
		content, err := os.ReadFile(s.PasswordFile)
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		return strings.TrimRight(string(content), "\r\n"), nil
	}
	return "", nil
}

// settings turns Options into arguments in a stable order. Options that this
// package sets itself, and those that would put a secret into the argument
// vector, are refused.
func (s Spec) settings(own []string) ([]string, error) {
	var args []string
	for name, value := range s.Options {
		plain := strings.ReplaceAll(strings.ToLower(name), "_", "-")
		switch {
		case plain == "" || strings.HasPrefix(plain, "-") || strings.ContainsAny(plain, "= \t\n\x00") || strings.ContainsRune(value, 0):
			return nil, fmt.Errorf("option %q is not the name of a setting", name)
		case slices.Contains(own, plain):
			return nil, fmt.Errorf("option %s is set by pairbench itself", name)
		case strings.Contains(plain, "pass") || strings.Contains(plain, "auth"):
			return nil, fmt.Errorf("option %s could carry a secret into the argument vector", name)
		}
		args = append(args, plain+"="+value)
	}
	slices.Sort(args)
	return args, nil
}
