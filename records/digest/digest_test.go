package digest

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The digest of "abc" stands in the standard.
const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestEveryWayOfHashingAgrees(t *testing.T) {
	path := filepath.Join(t.TempDir(), "abc")
	if err := os.WriteFile(path, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := NewReader(strings.NewReader("abc"))
	if got, err := io.ReadAll(r); err != nil || string(got) != "abc" {
		t.Fatalf("read %q (%v)", got, err)
	}
	var out bytes.Buffer
	w := NewWriter(io.Discard)
	io.WriteString(w, "something before")
	w.Reset(&out)
	if _, err := io.WriteString(w, "abc"); err != nil {
		t.Fatal(err)
	}
	file, size, err := File(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]SHA256{"Sum": Sum([]byte("abc")), "Reader": r.Sum(), "Writer": w.Sum(), "File": file} {
		if got.String() != abc {
			t.Errorf("%s gives %s", name, got)
		}
	}
	if r.Bytes() != 3 || w.Bytes() != 3 || size != 3 || out.String() != "abc" {
		t.Errorf("bytes %d, %d, %d; written %q", r.Bytes(), w.Bytes(), size, out.String())
	}
}

func TestTextForms(t *testing.T) {
	d, err := Parse(strings.ToUpper(abc))
	if err != nil || d.String() != abc || d.IsZero() {
		t.Errorf("parsed %s (%v)", d, err)
	}
	text, err := json.Marshal(d)
	if err != nil || string(text) != `"`+abc+`"` {
		t.Errorf("JSON is %s (%v)", text, err)
	}
	var back SHA256
	if err := json.Unmarshal(text, &back); err != nil || back != d {
		t.Errorf("JSON gives %s (%v)", back, err)
	}
	for _, bad := range []string{"", abc[1:], abc + "0", "g" + abc[1:]} {
		if got, err := Parse(bad); err == nil || !got.IsZero() {
			t.Errorf("Parse(%q) gives %s (%v)", bad, got, err)
		}
	}
}

func TestFileRefusesWhatCouldBlock(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, pipe, "/dev/zero", filepath.Join(dir, "none")} {
		if _, _, err := File(path); err == nil {
			t.Errorf("%s was hashed", path)
		}
	}
}
