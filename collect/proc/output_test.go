package proc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func outputOf(whole []byte, limit int) Output {
	sum := sha256.Sum256(whole)
	return Output{
		Head: whole[:min(limit, len(whole))], Bytes: int64(len(whole)), SHA256: hex.EncodeToString(sum[:]), Truncated: len(whole) > limit,
	}
}

func TestReadOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	secret := func(in io.Reader) io.Reader {
		all, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(bytes.ReplaceAll(all, []byte("secret"), []byte("[redacted]")))
	}
	for _, content := range []string{"", "a", "12345678", "123456789", string(hostileBytes()), strings.Repeat("x", 1<<20)} {
		for _, limit := range []int{0, 1, 8, 1 << 20} {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadOutput(path, limit, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(outputOf([]byte(content), limit), got, cmp.Transformer("nil", func(b []byte) string { return string(b) })); diff != "" {
				t.Errorf("%d bytes, limit %d (-want +got):\n%s", len(content), limit, diff)
			}
		}
	}
	if err := os.WriteFile(path, []byte("the secret is secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadOutput(path, 20, secret)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outputOf([]byte("the [redacted] is [redacted]"), 20), got); diff != "" {
		t.Errorf("redacted (-want +got):\n%s", diff)
	}
	if _, err := ReadOutput(path+"absent", 1, nil); err == nil {
		t.Error("no error for a file that is not there")
	}
}

// What a process writes is kept byte for byte.
func TestOutputOfProcesses(t *testing.T) {
	for part, want := range map[string][]byte{
		"binary":   hostileBytes(),
		"stderr4m": []byte(strings.Repeat(strings.Repeat("e", 1023)+"\n", 4<<10)),
	} {
		b := newBed(t)
		b.run(b.spec(part))
		path := b.stdout()
		if part == "stderr4m" {
			path = b.stderr()
		}
		got, err := ReadOutput(path, 1<<16, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(outputOf(want, 1<<16), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", part, diff)
		}
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("first\nsecond\nthird\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{100: "first\nsecond\nthird\n", 10: "third\n", 13: "third\n", 3: "rd\n"} {
		if got := string(Tail(path, limit)); got != want {
			t.Errorf("tail of %d bytes is %q, expected %q", limit, got, want)
		}
	}
	if got := Tail(path+"absent", 10); got != nil {
		t.Errorf("tail of a file that is not there is %q", got)
	}
}

func TestCPULists(t *testing.T) {
	for list, cpus := range map[string][]int{"": nil, "0": {0}, "0-1": {0, 1}, "0,2-3": {0, 2, 3}, "1,3,5-7": {1, 3, 5, 6, 7}} {
		got, err := ParseCPUs(list)
		if err != nil {
			t.Errorf("%q: %v", list, err)
		}
		if diff := cmp.Diff(cpus, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
		if got := FormatCPUs(cpus); got != list {
			t.Errorf("%v is written as %q, expected %q", cpus, got, list)
		}
	}
	for _, list := range []string{"a", "-1", "1-0", "0,0", "3,1", "0-", "0,,1", "9999", "0-9999", "1-2,2"} {
		if got, err := ParseCPUs(list); err == nil {
			t.Errorf("%q is read as %v, expected an error", list, got)
		}
	}
	if got := FormatCPUs([]int{3, 1, 2, 1}); got != "1-3" {
		t.Errorf("3,1,2,1 is written as %q, expected 1-3", got)
	}
}

func FuzzParseCPUs(f *testing.F) {
	for _, seed := range []string{"", "0", "0-1", "0,2-3", "1-0", "9999999999999999999", "0,,1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		cpus, err := ParseCPUs(list)
		if err != nil {
			return
		}
		again, err := ParseCPUs(FormatCPUs(cpus))
		if err != nil || !cmp.Equal(cpus, again) {
			t.Errorf("%q is read as %v, and what that is written as as %v, %v", list, cpus, again, err)
		}
	})
}
