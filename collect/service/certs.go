package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// managedServerName is the DNS name in the certificate of a managed server.
const managedServerName = "mysql.pairbench.internal"

// certificateLife is how long a managed server's certificate holds: longer than
// a long study, short enough to be worth nothing later.
const certificateLife = 72 * time.Hour

// material is what a managed server and its clients need for TLS. The CA's
// private key exists only while it is made.
type material struct {
	caPEM, certPEM, keyPEM []byte
	// name and at are what the probe of a server with a fault goes by: the
	// certificate's name, and a time when it holds.
	name string
	at   time.Time
}

func newMaterial(fault Fault, now time.Time) (material, error) {
	m := material{name: managedServerName, at: now}
	from := now.Add(-time.Hour)
	host, addresses := managedServerName, []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	switch fault {
	case FaultExpired:
		from = now.Add(-2 * certificateLife)
		m.at = from.Add(time.Hour)
	case FaultWrongName:
		host, addresses = "another.pairbench.internal", nil
		m.name = host
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return m, fmt.Errorf("make a key: %w", err)
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "pairbench private CA"},
		NotBefore: from, NotAfter: from.Add(certificateLife),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return m, fmt.Errorf("make a CA: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return m, fmt.Errorf("make a key: %w", err)
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host},
		DNSNames: []string{host}, IPAddresses: addresses,
		NotBefore: from, NotAfter: from.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, server, ca, key.Public(), caKey)
	if err != nil {
		return m, fmt.Errorf("make a certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return m, fmt.Errorf("encode a key: %w", err)
	}
	m.caPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	m.certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	m.keyPEM = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	return m, nil
}

// probeConfig verifies a managed server as what it is, faults included.
func (m material) probeConfig() *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(m.caPEM)
	at := m.at
	return &tls.Config{RootCAs: roots, ServerName: m.name, Time: func() time.Time { return at }, MinVersion: tls.VersionTLS12}
}

// verifyingConfig verifies chain and host name with the CAs of a file.
func verifyingConfig(caFile, serverName string) (*tls.Config, error) {
	content, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read the CA file: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("read the CA file %s: %w", caFile, errors.New("it holds no certificate in PEM"))
	}
	return &tls.Config{RootCAs: roots, ServerName: serverName, MinVersion: tls.VersionTLS12}, nil
}

func describeTLS(state tls.ConnectionState) string {
	return tls.VersionName(state.Version) + " " + tls.CipherSuiteName(state.CipherSuite)
}
