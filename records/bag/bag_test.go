package bag

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/records/atomicfile"
	"pairbench/records/digest"
)

// makeBag makes a bag of two files and returns its directory and identity.
func makeBag(t *testing.T) (string, digest.SHA256) {
	t.Helper()
	dir := t.TempDir()
	payload := Payload{}
	for name, content := range map[string]string{"data/a.txt": "alpha", "data/deep/b.txt": ""} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		payload.Entries = append(payload.Entries, Entry{Path: name, SHA256: digest.Sum([]byte(content))})
		payload.Bytes += int64(len(content))
	}
	identity, err := Write(atomicfile.OS{}, dir, payload, []InfoField{{"Bagging-Date", "2026-03-01"}})
	if err != nil {
		t.Fatal(err)
	}
	return dir, identity
}

func TestBagVerifiesAndLooksAsSpecified(t *testing.T) {
	dir, identity := makeBag(t)
	report, err := Verify(context.Background(), dir)
	if err != nil || len(report.Findings) != 0 || report.Identity != identity || report.Files != 5 {
		t.Errorf("report %+v (%v)", report, err)
	}
	for name, want := range map[string]string{
		DeclarationFile: "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
		InfoFile:        "Payload-Oxum: 5.2\nBagging-Date: 2026-03-01\n",
		ManifestFile: "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8  data/a.txt\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  data/deep/b.txt\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q (%v)", name, got, err)
		}
	}
}

func TestManifestRoundTrip(t *testing.T) {
	entries := []Entry{{"data/a", digest.Sum([]byte("1"))}, {"data/b/c", digest.Sum([]byte("2"))}}
	text, err := EncodeManifest([]Entry{entries[1], entries[0]})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeManifest(bytes.NewReader(text))
	if diff := cmp.Diff(entries, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestMalformedManifestsAreRefused(t *testing.T) {
	sum := digest.Sum(nil).String()
	for name, text := range map[string]string{
		"no path": sum, "one space": sum + " data/a\n", "short hash": sum[1:] + "  data/a\n", "no hex": "z" + sum[1:] + "  data/a\n",
		"twice": sum + "  data/a\n" + sum + "  data/a\n", "parent": sum + "  data/../a\n", "absolute": sum + "  /a\n",
		"empty line": "\n", "long": sum + "  " + strings.Repeat("a", 1<<20) + "\n", "carriage return": sum + "  data/a\r\r\n",
		"blank in path": sum + "  data/a b\n",
	} {
		if _, err := DecodeManifest(strings.NewReader(text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", name, err)
		}
	}
}

// endless never stops giving lines that are fine.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	line := digest.Sum([]byte{byte(e.n), byte(e.n >> 8), byte(e.n >> 16)}).String()
	e.n++
	return copy(p, line+"  data/"+line+"\n"), nil
}

func TestEndlessManifestIsRefused(t *testing.T) {
	if _, err := DecodeManifest(&endless{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("%v, want ErrMalformed", err)
	}
}

func TestDirStaysInside(t *testing.T) {
	dir, _ := makeBag(t)
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"data/out": outside, "data/inside": "a.txt", "data/up": "../..", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, name := range []string{"data/out", "data/inside", "data/up/x", "data", "loop"} {
		if _, err := d.ReadFile(name, 100); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v, want ErrNotRegular", name, err)
		}
	}
	for _, name := range []string{"../secret", outside, "data/../../secret", ""} {
		if _, err := d.ReadFile(name, 100); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, err := d.ReadFile("data/a.txt", 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("file beyond the bound: %v, want ErrTooLarge", err)
	}
	if got, err := d.ReadFile("data/a.txt", 5); err != nil || string(got) != "alpha" {
		t.Errorf("read %q (%v)", got, err)
	}
}

func TestCancelledVerifyIsAnError(t *testing.T) {
	dir, _ := makeBag(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Verify(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add([]byte(digest.Sum(nil).String() + "  data/a\n"))
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := DecodeManifest(bytes.NewReader(text))
		if err != nil {
			return
		}
		again, err := EncodeManifest(entries)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if twice, err := DecodeManifest(bytes.NewReader(again)); err != nil || len(twice) != len(entries) {
			t.Errorf("%d entries became %d (%v)", len(entries), len(twice), err)
		}
	})
}
