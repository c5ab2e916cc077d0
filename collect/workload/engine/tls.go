package engine

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"

	"pairbench/collect/driver"
)

// TLSConfig returns the configuration that verifies the service's chain against
// its CA file and its name against ServerName, or the host of its address. It is
// nil without a CA file: TLS is never used unverified.
func TLSConfig(s driver.Service) (*tls.Config, error) {
	if s.CAFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read CA file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read CA file %s: no certificate found", s.CAFile)
	}
	name := s.ServerName
	if name == "" {
		if name, _, err = net.SplitHostPort(s.Address); err != nil {
			return nil, fmt.Errorf("service address %q: %w", s.Address, err)
		}
	}
	return &tls.Config{RootCAs: pool, ServerName: name, MinVersion: tls.VersionTLS12}, nil
}

// Password returns the service's password from the variable that the job names,
// and takes it out of the environment. It is an error for the variable to be
// missing.
func Password(s driver.Service) (string, error) {
	if s.PasswordEnv == "" {
		return "", nil
	}
	password, ok := os.LookupEnv(s.PasswordEnv)
	if !ok {
		return "", fmt.Errorf("service password: variable %s is not set", s.PasswordEnv)
	}
	return password, os.Unsetenv(s.PasswordEnv)
}
