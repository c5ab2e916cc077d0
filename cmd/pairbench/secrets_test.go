package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pairbench/records/bundle"
)

const plantedSecret = "s3cr3t-Zx/9+qÜ"

// TestSecrets lets drivers tell a password in every way they have and looks for
// it in all that the commands leave or print.
func TestSecrets(t *testing.T) {
	pairbench := builtCommands(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "leak.sh")
	leak := `echo "out $DB_PASSWORD"; echo "err $DB_PASSWORD" >&2
echo "mysql://user:$DB_PASSWORD@db/x user:$DB_PASSWORD@tcp(db:3306)/x"
printf %s "$DB_PASSWORD" | base64 >&2
exit 3
`
	if err := os.WriteFile(script, []byte(leak), 0o644); err != nil {
		t.Fatal(err)
	}
	planFile, out := filepath.Join(dir, "leak.yaml"), filepath.Join(dir, "bundle")
	source := fmt.Sprintf(`plan: 1
study: secrets
arms: [{name: a}, {name: b}]
rounds: 1
pass_env: [DB_PASSWORD]
suites:
  - id: leak
    workload: command
    program: {command: [/bin/sh, %q, --password, "{env.DB_PASSWORD}"]}
    factors: {n: [1]}
    measure: {operations: 10}
`, script)
	if err := os.WriteFile(planFile, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) {
		t.Helper()
		cmd := exec.Command(pairbench, args...)
		cmd.Env = append(os.Environ(), "DB_PASSWORD="+plantedSecret)
		output, err := cmd.CombinedOutput()
		if code := exitOf(t, err); code != want {
			t.Fatalf("%v: exit code %d, expected %d:\n%s", args, code, want, output)
		}
		noSecret(t, "output of "+args[0], output)
	}
	run(exitFailedData, "collect", "--out", out, planFile)
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
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		noSecret(t, path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	literal := filepath.Join(dir, "literal.yaml")
	text := strings.Replace(source, `"{env.DB_PASSWORD}"`, `"mysql://user:`+plantedSecret+`@db/x"`, 1)
	if err := os.WriteFile(literal, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run(exitUsage, "collect", "--out", filepath.Join(dir, "refused"), literal)
}

// noSecret looks for the planted secret in the ways it can be written.
func noSecret(t *testing.T, where string, data []byte) {
	t.Helper()
	s := []byte(plantedSecret)
	for _, form := range []string{
		plantedSecret, url.QueryEscape(plantedSecret), url.PathEscape(plantedSecret),
		base64.StdEncoding.EncodeToString(s), base64.URLEncoding.EncodeToString(s), hex.EncodeToString(s),
	} {
		if bytes.Contains(data, []byte(form)) {
			t.Errorf("%s holds the secret as %q", where, form)
		}
	}
}
