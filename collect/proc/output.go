package proc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// Output is what a process wrote to one stream.
type Output struct {
	// Head is the beginning, at most the limit that was asked for.
	Head []byte
	// Bytes and SHA256 (lower-case hex) are of the whole.
	Bytes     int64
	SHA256    string
	Truncated bool
}

// ReadOutput reads the file at path in one pass of constant memory and keeps
// its first limit bytes. When redact is set, everything goes through it first:
// head, length and hash are of what comes out.
func ReadOutput(path string, limit int, redact func(io.Reader) io.Reader) (Output, error) {
	file, err := os.Open(path)
	if err != nil {
		return Output{}, fmt.Errorf("read output: %w", err)
	}
	defer file.Close()
	var source io.Reader = file
	if redact != nil {
		source = redact(source)
	}
	hash := sha256.New()
	var head bytes.Buffer
	source = io.TeeReader(source, hash)
	n, err := io.CopyN(&head, source, int64(limit))
	if err == nil {
		var rest int64
		rest, err = io.Copy(io.Discard, source)
		n += rest
	}
	if err != nil && err != io.EOF {
		return Output{}, fmt.Errorf("read output %s: %w", path, err)
	}
	return Output{
		Head: head.Bytes(), Bytes: n, SHA256: hex.EncodeToString(hash.Sum(nil)), Truncated: n > int64(head.Len()),
	}, nil
}

// Tail returns at most the last limit bytes of the file at path, beginning
// with a whole line where one falls into them. It is for messages to people:
// a file that cannot be read has an empty tail.
func Tail(path string, limit int64) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	from := max(0, info.Size()-limit)
	tail, err := io.ReadAll(io.NewSectionReader(file, from, limit))
	if err != nil {
		return nil
	}
	if _, whole, found := bytes.Cut(tail, []byte("\n")); from > 0 && found && len(whole) > 0 {
		tail = whole
	}
	return tail
}
