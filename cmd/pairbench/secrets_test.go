package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pairbench/records/bundle"
)

const plantedSecret = "s3cr3t-Zx/9+qÜ"

// TestSecrets lets drivers and a server tell a password in every way they have,
// and looks for it in all that the commands leave or print.
func TestSecrets(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	script, forms := filepath.Join(outside, "leak.sh"), filepath.Join(outside, "forms")
	writeFile(t, forms, strings.Join(secretForms(plantedSecret), "\n")+"\nfrom the data source name: dsn-Passw0rd\n")
	writeFile(t, script, `echo "out $DB_PASSWORD"; echo "err $DB_PASSWORD" >&2
echo "mysql://user:$DB_PASSWORD@db/x user:$DB_PASSWORD@tcp(db:3306)/x"
printf %s "$DB_PASSWORD" | base64 >&2
printf %s "user:$DB_PASSWORD" | base64 -w 10
cat "$1"; cat "$1" >&2
exit 3
`)
	planFile, out := filepath.Join(dir, "leak.yaml"), filepath.Join(dir, "bundle")
	source := fmt.Sprintf(`plan: 1
study: secrets
arms: [{name: a}, {name: b}]
rounds: 1
pass_env: [DB_PASSWORD, DATABASE_URL]
suites:
  - id: leak
    workload: command
    program: {command: [/bin/sh, %q, %q, --password, "{env.DB_PASSWORD}"]}
    factors: {n: [1]}
    measure: {operations: 10}
`, script, forms)
	writeFile(t, planFile, source)
	run := func(want int, args ...string) {
		t.Helper()
		cmd := exec.Command("pairbench", args...)
		cmd.Env = append(os.Environ(), "DB_PASSWORD="+plantedSecret, "DATABASE_URL=mysql://user:dsn-Passw0rd@db/x")
		output, err := cmd.CombinedOutput()
		if code := exitOf(t, err); code != want {
			t.Fatalf("%v: exit code %d, expected %d:\n%s", args, code, want, output)
		}
		noSecret(t, "output of "+args[0], output)
	}
	run(exitFailedData, "collect", "--out", out, planFile)
	run(exitOK, "verify", out)
	analysis := filepath.Join(dir, "analysis")
	run(exitOK, "analyze", "--out", analysis, out)
	run(exitOK, "render", "--out", filepath.Join(dir, "report"), analysis)
	run(exitOK, "notebook", "--out", filepath.Join(dir, "leak.ipynb"), analysis)
	for _, format := range []string{"csv", "arrow"} {
		run(exitOK, "export", "--format", format, "--out", filepath.Join(dir, "processes."+format), out)
	}
	b, err := bundle.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	processes, err := b.Processes()
	if err != nil {
		t.Fatal(err)
	}
	host, err := b.Host()
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := b.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		noSecret(t, p.ProcessID+" stdout", []byte(p.Stdout))
		noSecret(t, p.ProcessID+" stderr", []byte(p.Stderr))
		if !bytes.Contains([]byte(p.Stdout), []byte("out [redacted]")) {
			t.Errorf("%s: stdout is %q, expected what the driver said around the secret", p.ProcessID, p.Stdout)
		}
		noSecret(t, p.ProcessID+" as text", fmt.Appendf(nil, "%v", p))
	}
	rows, err := json.Marshal([]any{processes, host, inputs})
	if err != nil {
		t.Fatal(err)
	}
	noSecret(t, "decoded tables", rows)
	if !bytes.Contains(rows, []byte("--password")) {
		t.Error("the option's name is gone from the arguments")
	}
	for _, path := range filesBelow(t, dir) {
		noSecret(t, path, []byte(readFile(t, path)))
	}
	literal := filepath.Join(dir, "literal.yaml")
	writeFile(t, literal, strings.Replace(source, `"{env.DB_PASSWORD}"`, `"mysql://user:`+plantedSecret+`@db/x"`, 1))
	run(exitUsage, "collect", "--out", filepath.Join(dir, "refused"), literal)

	// Errors that name a program, or say what a server said.
	absent := filepath.Join(dir, "absent.yaml")
	writeFile(t, absent, strings.Replace(source, "/bin/sh, ", `"/nowhere/{env.DB_PASSWORD}", `, 1))
	run(exitFailure, "collect", "--out", filepath.Join(dir, "refused"), absent)
	told := filepath.Join(dir, "told.yaml")
	writeFile(t, told, strings.Replace(source, "    factors:", fmt.Sprintf(
		"    service: {name: db, kind: redis, mode: external, address: %q, password_env: DB_PASSWORD}\n    factors:", tellingServer(t)), 1))
	run(exitFailure, "collect", "--out", filepath.Join(dir, "refused"), told)
}

// tellingServer answers whatever it is asked with an error that holds the secret.
func tellingServer(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(conn, "-ERR wrong: %s\r\n", strings.Join(secretForms(plantedSecret), " "))
			_, _ = conn.Read(make([]byte, 4096))
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

// TestManagedServersKeyIsPrivateAndGone lets the measured program itself look at
// the keys that lie on the disk while it runs, and tell the server's password.
func TestManagedServersKeyIsPrivateAndGone(t *testing.T) {
	dir, aside := t.TempDir(), filepath.Join(t.TempDir(), "password")
	temp, err := os.MkdirTemp("", "key") // short: the server's socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	look := filepath.Join(t.TempDir(), "look.sh")
	writeFile(t, look, `for f in $(grep -rl "PRIVATE KEY" "$TMPDIR" 2>/dev/null); do stat -c "key %a" "$f"; stat -c "directory %a" "$(dirname "$f")"; done
env | grep PASSWORD; env | sed -n "s/^PAIRBENCH.*PASSWORD=//p" > `+aside)
	planFile, out := filepath.Join(dir, "key.yaml"), filepath.Join(dir, "bundle")
	writeFile(t, planFile, fmt.Sprintf(`plan: 1
study: key
arms: [{name: a}, {name: b}]
rounds: 1
suites:
  - id: s
    workload: command
    program: {command: [/bin/sh, %q, "{arm}"], read: {}}
    service: {name: db, kind: mysql, mode: managed, options: {tls: required}}
    factors: {n: [1]}
    measure: {operations: 1}
`, look))
	_, stderr := command(t, exitOK, "collect", "--out", out, planFile)
	for _, p := range processesOf(t, out) {
		said := string(p.Stdout)
		if strings.Count(said, "key ") != 1 || !strings.Contains(said, "key 600\n") || !strings.Contains(said, "directory 700\n") {
			t.Errorf("%s saw %q, expected one key of mode 600 in a directory of mode 700", p.ProcessID, said)
		}
		if !strings.Contains(said, "PASSWORD=[redacted]\n") {
			t.Errorf("%s told %q", p.ProcessID, said)
		}
	}
	password := strings.TrimSpace(readFile(t, aside))
	if len(password) < 16 {
		t.Fatalf("the password is %q", password)
	}
	told := stderr
	for _, path := range filesBelow(t, dir) {
		told += readFile(t, path)
	}
	for _, form := range secretForms(password) {
		if strings.Contains(told, form) {
			t.Errorf("the managed server's password is told as %q", form)
		}
	}
	for _, path := range filesBelow(t, temp) {
		if strings.Contains(readFile(t, path), "PRIVATE KEY") {
			t.Errorf("%s is left", path)
		}
	}
}

func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// secretForms are the ways in which programs and servers write a secret.
func secretForms(secret string) []string {
	s := []byte(secret)
	hexed := hex.EncodeToString(s)
	quoted, _ := json.Marshal(secret)
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), "%" + strings.ToUpper(hexed[:2]) + secret[1:],
		base64.StdEncoding.EncodeToString(s), base64.RawStdEncoding.EncodeToString(s), base64.URLEncoding.EncodeToString(s),
		hexed, strings.ToUpper(hexed), fmt.Sprintf("% x", s), "\\x" + strings.ReplaceAll(fmt.Sprintf("% x", s), " ", "\\x"),
		strings.Trim(string(quoted), `"`), strings.Trim(strconv.QuoteToASCII(secret), `"`),
	}
}

// noSecret looks for the planted secrets in the ways they can be written, also
// behind one or two other bytes in base64.
func noSecret(t *testing.T, where string, data []byte) {
	t.Helper()
	forms := append(secretForms(plantedSecret), "dsn-Passw0rd")
	for before := range 3 {
		digits := base64.StdEncoding.EncodeToString(append(make([]byte, before), plantedSecret...))
		forms = append(forms, digits[4:len(digits)-4])
	}
	for _, form := range forms {
		if bytes.Contains(data, []byte(form)) {
			t.Errorf("%s holds the secret as %q", where, form)
		}
	}
}
