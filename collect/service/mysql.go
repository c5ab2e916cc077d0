package service

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"pairbench/collect/driver"
	"pairbench/collect/proc"
)

// The user and the database that a managed server offers. The user may do what
// it likes in that database and nothing elsewhere.
const (
	managedUser     = "pairbench"
	managedDatabase = "pairbench"
)

// mysqlOwn are the settings that the managed mode sets itself.
var mysqlOwn = []string{"tls", "datadir", "tmpdir", "socket", "pid-file", "port", "bind-address", "user", "defaults-file",
	"ssl-ca", "ssl-cert", "ssl-key", "require-secure-transport", "init-file", "skip-grant-tables", "skip-networking", "skip-ssl", "ssl"}

// maxSocketPath is what a Unix socket's address can hold, on the narrowest
// system.
const maxSocketPath = 103

// mysqlServer is a binary with what its make needs.
type mysqlServer struct {
	binary  string
	mariaDB bool
	// base are the arguments that every start has.
	base []string
}

func (i *Instance) startMySQL(ctx context.Context) error {
	if socket := i.dir.file("socket"); len(socket) > maxSocketPath {
		return fmt.Errorf("the server's socket %s has %d characters, expected at most %d: choose a shorter directory for temporary files",
			socket, len(socket), maxSocketPath)
	}
	options := i.spec
	if tls, ok := options.Options["tls"]; ok {
		if tls != "required" {
			return fmt.Errorf("option tls is %q, expected required: a managed server always requires TLS", tls)
		}
		options.Options = make(map[string]string)
		for name, value := range i.spec.Options {
			if name != "tls" {
				options.Options[name] = value
			}
		}
	}
	settings, err := options.settings(mysqlOwn)
	if err != nil {
		return err
	}
	server, err := i.findMySQL(ctx)
	if err != nil {
		return err
	}
	if err := i.createDatabase(ctx, server); err != nil {
		return fmt.Errorf("create its data: %w", err)
	}
	tls, err := newMaterial(i.spec.Fault, time.Now())
	if err != nil {
		return err
	}
	argv, err := i.mysqlArguments(server, tls, settings)
	if err != nil {
		return err
	}
	defer os.Remove(i.dir.file("init.sql"))
	return i.onPort(ctx, func(ctx context.Context, host, port string) error {
		argv := append(append([]string(nil), argv...), "--bind-address="+host, "--port="+port)
		i.record(argv, port)
		i.Service.Address = net.JoinHostPort(host, port)
		config := tls.probeConfig()
		if i.spec.Fault == FaultNoTLS {
			config = nil
		}
		return i.launch(ctx, argv, nil, func(ctx context.Context) error {
			conn, err := i.dialPlain(ctx)
			if err != nil {
				return err
			}
			defer conn.Close()
			login, err := loginMySQL(ctx, conn, config, managedUser, i.secrets[0], managedDatabase)
			i.noteMySQL(login)
			return err
		})
	})
}

// mysqlArguments writes the server's files and returns its arguments without
// address and port. The password is in the statements that the server runs
// before it listens, in a file that is gone once it answers.
func (i *Instance) mysqlArguments(server mysqlServer, tls material, settings []string) ([]string, error) {
	var random [24]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, fmt.Errorf("make a password: %w", err)
	}
	password := hex.EncodeToString(random[:])
	i.secrets = []string{password}
	require := " REQUIRE SSL"
	if i.spec.Fault == FaultNoTLS {
		require = ""
	}
	var statements strings.Builder
	fmt.Fprintf(&statements, "CREATE DATABASE IF NOT EXISTS %s;\n", managedDatabase)
	for _, host := range []string{"127.0.0.1", "::1"} {
		fmt.Fprintf(&statements, "CREATE USER '%s'@'%s' IDENTIFIED BY '%s'%s;\n", managedUser, host, password, require)
		fmt.Fprintf(&statements, "GRANT ALL ON %s.* TO '%s'@'%s';\n", managedDatabase, managedUser, host)
	}
	initFile, err := i.dir.write("init.sql", []byte(statements.String()))
	if err != nil {
		return nil, err
	}
	argv := append([]string{server.binary}, server.base...)
	argv = append(argv, "--socket="+i.dir.file("socket"), "--pid-file="+i.dir.file("pid"), "--init-file="+initFile,
		"--skip-log-bin", "--performance-schema=OFF", "--skip-name-resolve", "--max-connections=1000")
	if i.spec.Fault == FaultNoTLS {
		argv = append(argv, "--skip-ssl")
	} else {
		names := [...]string{"ca.pem", "server-cert.pem", "server-key.pem"}
		var paths [len(names)]string
		for n, content := range [...][]byte{tls.caPEM, tls.certPEM, tls.keyPEM} {
			if paths[n], err = i.dir.write(names[n], content); err != nil {
				return nil, err
			}
		}
		argv = append(argv, "--ssl-ca="+paths[0], "--ssl-cert="+paths[1], "--ssl-key="+paths[2], "--require-secure-transport=ON")
	}
	clientCA := tls.caPEM
	if i.spec.Fault == FaultOtherCA {
		other, err := newMaterial(FaultNone, time.Now())
		if err != nil {
			return nil, err
		}
		clientCA = other.caPEM
	}
	caFile, err := i.dir.write("client-ca.pem", clientCA)
	if err != nil {
		return nil, err
	}
	i.Service = driver.Service{
		CAFile: caFile, ServerName: managedServerName,
		User: managedUser, PasswordEnv: PasswordEnv, Database: managedDatabase,
	}
	for _, setting := range settings {
		argv = append(argv, "--"+setting)
	}
	return argv, nil
}

// findMySQL finds the binary and asks it which make it is.
func (i *Instance) findMySQL(ctx context.Context) (mysqlServer, error) {
	binary, err := i.spec.findServer([]string{"mariadbd", "mysqld"}, "mariadb-server-core")
	if err != nil {
		return mysqlServer{}, err
	}
	ask := exec.CommandContext(ctx, binary, "--no-defaults", "--version")
	ask.Env = i.environment()
	version, err := ask.Output()
	if err != nil {
		return mysqlServer{}, fmt.Errorf("ask %s for its version: %w", binary, err)
	}
	server := mysqlServer{binary: binary, mariaDB: strings.Contains(string(version), "MariaDB")}
	server.base = []string{"--no-defaults", "--datadir=" + i.dir.file("data"), "--tmpdir=" + i.dir.path}
	if os.Getuid() == 0 {
		server.base = append(server.base, "--user=root")
	}
	if server.mariaDB {
		server.base = append(server.base, "--innodb=OFF", "--default-storage-engine=Aria")
	} else {
		server.base = append(server.base, "--mysqlx=OFF")
	}
	return server, nil
}

// createDatabase makes the data directory with the system tables.
func (i *Instance) createDatabase(ctx context.Context, server mysqlServer) error {
	argv := append([]string{server.binary}, server.base...)
	var stdin *os.File
	if server.mariaDB {
		statements, err := systemTables(server.binary)
		if err != nil {
			return err
		}
		if err := os.Mkdir(i.dir.file("data"), 0o700); err != nil {
			return err
		}
		path, err := i.dir.write("bootstrap.sql", statements)
		if err != nil {
			return err
		}
		if stdin, err = os.Open(path); err != nil {
			return err
		}
		defer stdin.Close()
		argv = append(argv, "--bootstrap", "--skip-networking")
	} else {
		argv = append(argv, "--initialize-insecure")
	}
	log := i.dir.file("bootstrap.log")
	process, err := proc.Start(proc.Spec{
		Argv: argv, Env: i.environment(), Dir: i.dir.path, Stdin: stdin, StdoutPath: log, StderrPath: log, Grace: stopGrace,
	})
	if err != nil {
		return err
	}
	defer process.Close()
	exit := process.Wait(ctx)
	if exit.ExitCode == nil || *exit.ExitCode != 0 {
		return fmt.Errorf("%s; its last words: %s", how(exit), lastLines(log))
	}
	return nil
}

// systemTables are the statements that make MariaDB's system tables, after
// those that keep it from making users that need no password.
func systemTables(binary string) ([]byte, error) {
	prefix := filepath.Dir(filepath.Dir(binary))
	places := []string{"/usr/share/mysql", "/usr/share/mariadb",
		filepath.Join(prefix, "share", "mysql"), filepath.Join(prefix, "share", "mariadb"), filepath.Join(prefix, "share")}
	for _, place := range places {
		statements := []byte("create database mysql;\nuse mysql;\nSET @auth_root_socket=NULL;\nSET @skip_auth_anonymous=1;\n")
		complete := true
		for _, candidates := range [][]string{
			{"mysql_system_tables.sql", "mariadb_system_tables.sql"},
			{"mysql_system_tables_data.sql", "mariadb_system_tables_data.sql"},
		} {
			content, err := readFirst(place, candidates)
			statements = append(statements, content...)
			complete = complete && err == nil
		}
		if complete {
			return statements, nil
		}
	}
	return nil, fmt.Errorf("mysql_system_tables.sql is in none of %s; on Debian it comes with: apt-get install mariadb-server-core",
		strings.Join(places, ", "))
}

func readFirst(dir string, names []string) ([]byte, error) {
	var errs []error
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			return content, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// probeMySQL logs in to an external server, with full verification.
func (i *Instance) probeMySQL(ctx context.Context) error {
	if i.Service.CAFile == "" {
		return errors.New("it has no ca_file: MySQL is only spoken over TLS that is verified")
	}
	config, err := verifyingConfig(i.Service.CAFile, i.serverName())
	if err != nil {
		return err
	}
	conn, err := i.dialPlain(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	password := ""
	if len(i.secrets) > 0 {
		password = i.secrets[0]
	}
	login, err := loginMySQL(ctx, conn, config, i.Service.User, password, i.Service.Database)
	i.noteMySQL(login)
	return err
}

func (i *Instance) noteMySQL(login mysqlLogin) {
	i.Product, i.Version, i.TLS = "mysql", login.version, login.tls
	if version, _, ok := strings.Cut(login.version, "-MariaDB"); ok {
		i.Product, i.Version = "mariadb", version
	}
}
