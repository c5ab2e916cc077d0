package service

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pairbench/collect/proc"
)

// TestMain plays the collector that is killed, when asked to.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "collector" {
		i, err := Start(context.Background(), Spec{Name: "doomed", Kind: Kind(os.Args[2]), Mode: Managed, Dir: os.Args[3]})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(i.Pid)
		for {
			time.Sleep(time.Hour)
		}
	}
	os.Exit(m.Run())
}

func start(t *testing.T, spec Spec) *Instance {
	t.Helper()
	if spec.Dir == "" {
		spec.Dir = t.TempDir()
	}
	i, err := Start(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if left := entries(t, spec.Dir); len(left) != 0 {
			t.Errorf("left in the directory after Stop: %v", left)
		}
		if syscall.Kill(i.Pid, 0) == nil && i.Pid != 0 {
			t.Errorf("process %d is there after Stop", i.Pid)
		}
	})
	return i
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range found {
		names = append(names, entry.Name())
	}
	return names
}

// pbdriver builds the embedded server. The sources are looked at so that a
// cached test result depends on them.
func pbdriver(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{"../../cmd/pbdriver", "../workload", "../driver"} {
		if err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				_, err = os.ReadFile(path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "pbdriver")
	if out, err := exec.Command("go", "build", "-o", path, "pairbench/cmd/pbdriver").CombinedOutput(); err != nil {
		t.Fatalf("build pbdriver: %v\n%s", err, out)
	}
	return path
}

func TestManagedRedis(t *testing.T) {
	i := start(t, Spec{Name: "redis", Kind: Redis, Mode: Managed, CPUs: []int{0}, Options: map[string]string{"maxclients": "321"}})
	if i.Product != "redis" && i.Product != "valkey" || i.Version == "" || !filepath.IsAbs(i.BinaryPath) {
		t.Errorf("product %q, version %q, binary %q", i.Product, i.Version, i.BinaryPath)
	}
	if diff := cmp.Diff([]int{0}, i.CPUs); diff != "" {
		t.Errorf("processors (-want +got):\n%s", diff)
	}
	argv := strings.Join(i.Argv[1:], " ")
	if want := "--port {port} --bind 127.0.0.1 --dir {dir} --save  --appendonly no --daemonize no --logfile  --maxclients 321"; argv != want {
		t.Errorf("recorded arguments:\n%s\nexpected:\n%s", argv, want)
	}
	if i.Env() != nil || i.Secrets() != nil {
		t.Errorf("environment %v and secrets %v, expected none", i.Env(), i.Secrets())
	}
	if err := i.Err(); err != nil {
		t.Errorf("a running server has an error: %v", err)
	}
	if _, err := i.Snapshot(); err != nil {
		t.Error(err)
	}
	outside, err := Start(context.Background(), Spec{Name: "redis", Kind: Redis, Mode: External, Address: i.Service.Address})
	if err != nil {
		t.Fatal(err)
	}
	if outside.Version != i.Version || outside.Pid != 0 || outside.BinaryPath != "" {
		t.Errorf("the same server from outside is %+v", outside)
	}
	if err := outside.Stop(context.Background()); err != nil || i.Err() != nil {
		t.Errorf("stopping the connection: %v; the server: %v", err, i.Err())
	}
}

func TestManagedMySQL(t *testing.T) {
	i := start(t, Spec{Name: "mysql", Kind: MySQL, Mode: Managed, Options: map[string]string{"tls": "required", "net_buffer_length": "32768"}})
	if i.Product == "" || i.Version == "" || !strings.HasPrefix(i.TLS, "TLS 1.") {
		t.Errorf("product %q, version %q, TLS %q", i.Product, i.Version, i.TLS)
	}
	if len(i.Env()) != 1 || i.Env()[0] != PasswordEnv+"="+i.Secrets()[0] || len(i.Secrets()[0]) < 32 {
		t.Errorf("environment is %v", i.Env())
	}
	checkSecrecy(t, i)

	t.Setenv("TEST_PASSWORD", i.Secrets()[0])
	t.Setenv("TEST_WRONG", "not-the-password")
	outside := Spec{
		Name: "outside", Kind: MySQL, Mode: External, Address: i.Service.Address, User: i.Service.User, PasswordEnv: "TEST_PASSWORD",
		Database: i.Service.Database, CAFile: i.Service.CAFile, ServerName: i.Service.ServerName,
	}
	got, err := Start(context.Background(), outside)
	if err != nil {
		t.Fatal(err)
	}
	if got.Version != i.Version || got.TLS != i.TLS || got.Env()[0] != i.Env()[0] {
		t.Errorf("the same server from outside is %+v", got)
	}
	for name, change := range map[string]func(*Spec){
		"error 1045":         func(s *Spec) { s.PasswordEnv = "TEST_WRONG" },
		"error 1044":         func(s *Spec) { s.Database = "mysql" },
		"TEST_UNSET is not":  func(s *Spec) { s.PasswordEnv = "TEST_UNSET" },
		"not wrong.example":  func(s *Spec) { s.ServerName = "wrong.example" },
		"verified":           func(s *Spec) { s.CAFile = "" },
		"no certificate in":  func(s *Spec) { s.CAFile = "service_test.go" },
		"read the password":  func(s *Spec) { s.PasswordEnv, s.PasswordFile = "", "absent" },
		"that is no redis":   func(s *Spec) { s.Kind, s.CAFile, s.PasswordEnv = Redis, "", "" },
		"connection refused": func(s *Spec) { s.Address = "127.0.0.1:1" },
		"expected host:port": func(s *Spec) { s.Address = "127.0.0.1" },
	} {
		spec := outside
		change(&spec)
		if _, err := Start(context.Background(), spec); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error is %v, expected one with %q", err, name)
		} else if strings.Contains(err.Error(), "not-the-password") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
	conn, err := net.Dial("tcp", i.Service.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := loginMySQL(context.Background(), conn, nil, i.Service.User, i.Secrets()[0], ""); err == nil {
		t.Error("a login without TLS succeeded")
	}
}

// checkSecrecy looks for the password and for files that others could read.
func checkSecrecy(t *testing.T, i *Instance) {
	t.Helper()
	password := i.Secrets()[0]
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", i.Pid))
	if err != nil {
		t.Fatal(err)
	}
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", i.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if all := string(line) + string(environment) + strings.Join(i.Argv, " "); strings.Contains(all, password) {
		t.Error("the password is in an argument vector or in the server's environment")
	}
	keys := 0
	err = filepath.WalkDir(i.dir.path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSocket != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path == i.dir.path && info.Mode().Perm() != 0o700 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Contains(string(content), password) {
			t.Errorf("%s holds the password", path)
		}
		if strings.Contains(string(content), "PRIVATE KEY") {
			keys++
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if keys != 1 {
		t.Errorf("%d private keys on disk, expected the server's alone", keys)
	}
}

// A client that verifies refuses every fault, and says why.
func TestFaultsAreRefused(t *testing.T) {
	for fault, want := range map[Fault]string{
		FaultOtherCA:   "unknown authority",
		FaultExpired:   "expired",
		FaultWrongName: "not " + managedServerName,
		FaultNoTLS:     "no TLS",
	} {
		i := start(t, Spec{Name: "faulty", Kind: MySQL, Mode: Managed, Fault: fault})
		t.Setenv("TEST_PASSWORD", i.Secrets()[0])
		_, err := Start(context.Background(), Spec{
			Name: "outside", Kind: MySQL, Mode: External, Address: i.Service.Address, User: i.Service.User, PasswordEnv: "TEST_PASSWORD",
			CAFile: i.Service.CAFile, ServerName: i.Service.ServerName,
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, expected one with %q", fault, err, want)
		}
	}
}

func TestEmbedded(t *testing.T) {
	binary := pbdriver(t)
	for protocol, kind := range map[string]Kind{"": Redis, "tcp": Echo, "http": Echo, "websocket": Echo} {
		i := start(t, Spec{Name: "echo", Kind: kind, Mode: Embedded, Program: binary, Protocol: protocol, CPUs: []int{0}})
		if diff := cmp.Diff([]int{0}, i.CPUs); diff != "" {
			t.Errorf("%s: processors (-want +got):\n%s", protocol, diff)
		}
		if _, err := Start(context.Background(), Spec{Name: "outside", Kind: kind, Mode: External, Address: i.Service.Address}); err != nil {
			t.Errorf("%s: %v", protocol, err)
		}
	}
	_, err := Start(context.Background(), Spec{Name: "echo", Kind: Echo, Mode: Embedded, Program: binary, Protocol: "smoke", Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "smoke") {
		t.Errorf("error is %v, expected the server's own words", err)
	}
}

func TestDeathOfAServerIsSeen(t *testing.T) {
	i := start(t, Spec{
		Name: "redis", Kind: Redis, Mode: Managed,
		Redact: func(text []byte) []byte {
			return []byte(strings.ReplaceAll(string(text), "Ready to accept", "[hidden]"))
		},
	})
	if err := syscall.Kill(i.Pid, syscall.SIGSEGV); err != nil {
		t.Fatal(err)
	}
	<-i.Done()
	err := i.Err()
	if err == nil || !strings.Contains(err.Error(), "service redis") || !strings.Contains(err.Error(), "segmentation fault") ||
		!strings.Contains(err.Error(), "its last words") {
		t.Errorf("error is %v, expected service, signal and last words", err)
	}
	if err := i.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if err := i.Err(); err != nil {
		t.Errorf("after Stop: %v, expected none", err)
	}
}

func TestRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	redis, mysql := Spec{Name: "s", Kind: Redis, Mode: Managed}, Spec{Name: "s", Kind: MySQL, Mode: Managed}
	for _, c := range []struct {
		want   string
		spec   Spec
		change func(*Spec)
	}{
		{"address already in use", redis, func(s *Spec) { s.Address = taken.Addr().String() }},
		{"address already in use", mysql, func(s *Spec) { s.Address = taken.Addr().String() }},
		{"expected a loopback address", redis, func(s *Spec) { s.Address = "0.0.0.0:7000" }},
		{"no such file", redis, func(s *Spec) { s.Program = "/no/such/redis-server" }},
		{"no such file", redis, func(s *Spec) { s.Dir = "/no/such/directory" }},
		{"last words", redis, func(s *Spec) { s.Options = map[string]string{"no-such-setting": "1"} }},
		{"last words", mysql, func(s *Spec) { s.Options = map[string]string{"no-such-setting": "1"} }},
		{"set by pairbench itself", redis, func(s *Spec) { s.Options = map[string]string{"bind": "0.0.0.0"} }},
		{"set by pairbench itself", mysql, func(s *Spec) { s.Options = map[string]string{"skip_grant_tables": "1"} }},
		{"secret", redis, func(s *Spec) { s.Options = map[string]string{"requirepass": "x"} }},
		{"not the name of a setting", redis, func(s *Spec) { s.Options = map[string]string{"a=b": "x"} }},
		{"expected required", mysql, func(s *Spec) { s.Options = map[string]string{"tls": "off"} }},
		{"shorter directory", mysql, func(s *Spec) { s.Dir = filepath.Join(t.TempDir(), strings.Repeat("d", 100)) }},
		{"no managed mode", redis, func(s *Spec) { s.Kind = Echo }},
		{"no embedded mode", mysql, func(s *Spec) { s.Mode = Embedded }},
		{"path of pbdriver", redis, func(s *Spec) { s.Mode = Embedded }},
		{"needs an address", redis, func(s *Spec) { s.Mode = External }},
		{"expected managed, embedded or external", redis, func(s *Spec) { s.Mode = "any" }},
		{"exited with 0", redis, func(s *Spec) { s.Program = "true" }},
		{"does not answer", redis, func(s *Spec) { s.Program, s.ReadyLimit = silent(t), 200*time.Millisecond }},
	} {
		spec := c.spec
		spec.Dir = t.TempDir()
		parent := spec.Dir
		c.change(&spec)
		if strings.HasPrefix(spec.Dir, os.TempDir()) {
			if err := os.MkdirAll(spec.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			parent = spec.Dir
		}
		_, err := Start(context.Background(), spec)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "service s: ") {
			t.Errorf("error is %v, expected one with %q", err, c.want)
		}
		if left := entries(t, parent); len(left) != 0 {
			t.Errorf("%s: left behind: %v", c.want, left)
		}
	}
}

// silent is a server that never answers.
func silent(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "silent")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 3600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMissingServerNamesItsPackage(t *testing.T) {
	for _, c := range []struct{ program, debian string }{{"redis-server", "redis-server"}, {"mariadbd", "mariadb-server-core"}} {
		_, err := Spec{}.findServer([]string{"pairbench-no-" + c.program}, c.debian)
		var missing *MissingError
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install "+c.debian) {
			t.Errorf("error is %v, expected a *MissingError that names %s", err, c.debian)
		}
	}
}

// A collector that is killed leaves no server, and the next start removes the
// directory.
func TestKilledCollector(t *testing.T) {
	for _, kind := range []Kind{Redis, MySQL} {
		dir := t.TempDir()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		collector := exec.Command(self, "collector", string(kind), dir)
		out, err := collector.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := collector.Start(); err != nil {
			t.Fatal(err)
		}
		var pid int
		line, err := bufio.NewReader(out).ReadString('\n')
		if _, scanErr := fmt.Sscan(line, &pid); err != nil || scanErr != nil {
			t.Fatalf("the collector said %q: %v", line, err)
		}
		if left := entries(t, dir); len(left) != 1 {
			t.Fatalf("directories while it runs: %v, expected one", left)
		}
		// A living collector's directory is not touched.
		start(t, Spec{Name: "redis", Kind: Redis, Mode: Managed, Dir: t.TempDir()})
		removeAbandoned(dir)
		if left := entries(t, dir); len(left) != 1 {
			t.Errorf("directories of a living collector: %v, expected one", left)
		}
		collector.Process.Kill()
		collector.Wait()
		deadline := time.Now().Add(20 * time.Second)
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: server %d outlives its collector", kind, pid)
			}
			time.Sleep(time.Millisecond)
		}
		start(t, Spec{Name: "redis", Kind: Redis, Mode: Managed, Dir: dir}).Stop(context.Background())
		if left := entries(t, dir); len(left) != 0 {
			t.Errorf("left after the next start: %v", left)
		}
	}
}

func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestStrangersDirectoriesAreLeft(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{privatePrefix + "no-lock", privatePrefix + "open", "other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, privatePrefix+"open", lockName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, privatePrefix+"open"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", filepath.Join(dir, privatePrefix+"link")); err != nil {
		t.Fatal(err)
	}
	removeAbandoned(dir)
	if left := entries(t, dir); len(left) != 4 {
		t.Errorf("left: %v, expected all four", left)
	}
}

func TestServerIsNoLeftover(t *testing.T) {
	i := start(t, Spec{Name: "redis", Kind: Redis, Mode: Managed})
	p, err := proc.Start(proc.Spec{Argv: []string{"sh", "-c", "sleep 3600 & exit 0"}})
	if err != nil {
		t.Fatal(err)
	}
	exit := p.Wait(context.Background())
	if exit.Leftovers != nil && *exit.Leftovers != 1 {
		t.Errorf("%d leftovers (%v), expected the sleep alone", *exit.Leftovers, exit.LeftoverNames)
	}
	if err := i.Err(); err != nil {
		t.Error(err)
	}
}
