package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
)

// SHA256 is a SHA-256 digest. The zero value is no digest of anything.
type SHA256 [sha256.Size]byte

// String returns 64 lower-case hexadecimal digits.
func (d SHA256) String() string { return hex.EncodeToString(d[:]) }

// IsZero reports whether d was never set.
func (d SHA256) IsZero() bool { return d == SHA256{} }

// MarshalText and UnmarshalText write and read the hexadecimal form.
func (d SHA256) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText accepts what Parse accepts.
func (d *SHA256) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// Parse reads 64 hexadecimal digits of either case.
func Parse(s string) (SHA256, error) {
	var d SHA256
	if len(s) != 2*len(d) {
		return SHA256{}, fmt.Errorf("parse sha256: %d characters, want %d", len(s), 2*len(d))
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return SHA256{}, fmt.Errorf("parse sha256: %w", err)
	}
	return d, nil
}

// Sum hashes b.
func Sum(b []byte) SHA256 { return sha256.Sum256(b) }

// Reader hashes and counts what is read through it.
type Reader struct {
	r io.Reader
	h hash.Hash
	n int64
}

// NewReader returns a Reader over r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r, h: sha256.New()} }

func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.h.Write(p[:n])
	r.n += int64(n)
	return n, err
}

// Sum returns the digest of all bytes read so far.
func (r *Reader) Sum() SHA256 { return SHA256(r.h.Sum(nil)) }

// Bytes returns the number of bytes read so far.
func (r *Reader) Bytes() int64 { return r.n }

// Writer hashes and counts what its underlying writer took.
type Writer struct {
	w io.Writer
	h hash.Hash
	n int64
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, h: sha256.New()} }

// Reset starts anew on w with nothing hashed.
func (w *Writer) Reset(dst io.Writer) {
	w.w, w.n = dst, 0
	w.h.Reset()
}

func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.h.Write(p[:n])
	w.n += int64(n)
	return n, err
}

// Sum returns the digest of all bytes written so far.
func (w *Writer) Sum() SHA256 { return SHA256(w.h.Sum(nil)) }

// Bytes returns the number of bytes written so far.
func (w *Writer) Bytes() int64 { return w.n }

// File hashes a regular file and returns its size too. Anything that is not a
// regular file, once symbolic links are followed, is an error: a device or a
// pipe could block or never end.
func File(path string) (SHA256, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return SHA256{}, 0, err
	}
	if !info.Mode().IsRegular() {
		return SHA256{}, 0, fmt.Errorf("hash %s: not a regular file (%s)", path, info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return SHA256{}, 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, make([]byte, 256<<10))
	if err != nil {
		return SHA256{}, 0, fmt.Errorf("hash %s: %w", path, err)
	}
	return SHA256(h.Sum(nil)), n, nil
}
