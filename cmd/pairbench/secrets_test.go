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
	"pairbench/records/digest"
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

// TestImportedSecretsGoNoFurther imports results that hold the secret where each
// tool keeps one, takes them through every command, and looks for it in all that
// is left or printed.
func TestImportedSecretsGoNoFurther(t *testing.T) {
	quoted := strings.Trim(string(mustJSON(t, plantedSecret)), `"`)
	inURL := url.PathEscape(plantedSecret)
	for format, c := range map[string]struct {
		taken int
		text  string
	}{
		"hyperfine": {5, `{"results": [{"command": "PGPASSWORD=SECRET redis-cli -a SECRET PING --token SECRET http://me:INURL@db/ -H 'Authorization: Bearer SECRET'", "times": [1, 2], "parameters": {}}]}`},
		"k6":        {4, `{"setup_data": {"login": "SECRET"}, "options": {"env": {"API_TOKEN": "SECRET", "TARGET": "https://me:INURL@host/"}, "tags": {"auth": "SECRET"}}, "metrics": {"http_reqs": {"count": 5, "rate": 2.5}, "http_req_duration": {"med": 1}}}`},
		"pytest-benchmark": {3, `{"version": "5.1.0", "machine_info": {"node": "vm", "proxy": "http://me:INURL@proxy:3128"}, "commit_info": {"project": "https://ci:INURL@git.example/x.git", "password": "SECRET"},
			"benchmarks": [{"name": "test_x", "stats": {"iterations": 1, "data": [1, 2]}}]}`},
		"memtier":          {2, `{"configuration": {"authenticate": "SECRET", "uri": "redis://me:INURL@host:6379/0"}, "ALL STATS": {"Gets": {"Count": 5, "Ops/sec": 2.5}}}`},
		"google-benchmark": {2, `{"context": {"executable": "./bench --dsn=me:INURL@tcp(db:3306)/x", "secret": "SECRET"}, "benchmarks": [{"name": "x", "iterations": 1, "real_time": 3}]}`},
		"pyperf":           {2, `{"version": "1.0", "metadata": {"name": "x", "command": "py --password SECRET", "python_executable": "http://me:INURL@host/"}, "benchmarks": [{"runs": [{"values": [1]}]}]}`},
		"wrk":              {2, "Running 1s test @ http://me:INURL@host/?token=INURL\n  1 threads and 2 connections\n  44 requests in 1.00s, 5.20KB read\nRequests/sec:     43.90\n"},
		"wrk2":             {1, "Running 1s test @ http://me:INURL@host/\n  1 threads and 2 connections\n  44 requests in 1.00s, 5.20KB read\nRequests/sec:     43.90\n"},
		"go-bench":         {1, "BenchmarkDial/redis://me:INURL@host-8 1 5 ns/op\n"},
		"redis-benchmark":  {1, "AUTH with password: INURL\n\"SET\",\"1000.50\"\n"},
		"go-ycsb":          {1, "redis.password=INURL\noperation,timestamp_us,latency_us\nREAD,1,2\n"},
	} {
		t.Run(format, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			text := strings.NewReplacer("SECRET", quoted, "INURL", inURL).Replace(c.text)
			var args []string
			for _, arm := range []string{"a", "b"} {
				file := filepath.Join(outside, arm)
				writeFile(t, file, text)
				args = append(args, "--"+arm, file)
			}
			out, analysis := filepath.Join(dir, "bundle"), filepath.Join(dir, "analysis")
			printed := ""
			for _, args := range [][]string{
				append([]string{"import", "--format", format, "--out", out}, args...), {"verify", out}, {"analyze", "--out", analysis, out},
				{"render", "--out", filepath.Join(dir, "report"), analysis}, {"notebook", "--out", filepath.Join(dir, "n.ipynb"), analysis},
				{"export", "--format", "csv", analysis}, {"history", dir},
			} {
				stdout, stderr := command(t, exitOK, args...)
				printed += stdout + stderr
			}
			if want := fmt.Sprintf("secrets taken out: %d;", c.taken); strings.Count(printed, want) != 2 {
				t.Errorf("printed %q, expected %q of each file", printed, want)
			}
			noSecret(t, "what was printed", []byte(printed))
			for _, path := range filesBelow(t, dir) {
				noSecret(t, path, []byte(readFile(t, path)))
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
			cells, err := b.Cells()
			if err != nil {
				t.Fatal(err)
			}
			inputs, err := b.Inputs()
			if err != nil {
				t.Fatal(err)
			}
			noSecret(t, "decoded tables", mustJSON(t, []any{b.Run(), processes, cells, inputs}))
			for i, in := range inputs {
				kept := readFile(t, filepath.Join(out, "data", in.Name))
				if in.Gap == nil || strings.Count(kept, "[redacted]") != c.taken || *in.SHA256 != digest.Sum([]byte(kept)).String() {
					t.Errorf("file %d is kept as %q and described as %+v", i, kept, in)
				}
			}
		})
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
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
