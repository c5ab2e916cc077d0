package bag

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"pairbench/records/digest"
)

// The files that make a directory a bag.
const (
	DeclarationFile = "bagit.txt"
	InfoFile        = "bag-info.txt"
	ManifestFile    = "manifest-sha256.txt"
	TagManifestFile = "tagmanifest-sha256.txt"
	// PayloadDir is the directory, with its slash, that holds the payload.
	PayloadDir = "data/"
)

// Bounds on what a bag may claim. A manifest beyond them is malformed.
const (
	MaxManifestBytes = 16 << 20
	MaxTagFileBytes  = 1 << 20
	MaxPathBytes     = 1024
)

const declaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"

// ErrMalformed is returned for a manifest that is not one.
var ErrMalformed = errors.New("malformed manifest")

// Entry is one line of a manifest.
type Entry struct {
	Path   string
	SHA256 digest.SHA256
}

// CheckPath refuses every path but a relative one of [A-Za-z0-9._-] elements
// that stays inside its directory. Such names mean the same to every file
// system, shell, checksum tool and Parquet reader.
func CheckPath(path string) error {
	if path == "" {
		return errors.New("empty path")
	}
	if len(path) > MaxPathBytes {
		return fmt.Errorf("path of %d bytes, at most %d are allowed", len(path), MaxPathBytes)
	}
	for element := range strings.SplitSeq(path, "/") {
		switch element {
		case "":
			return fmt.Errorf("path %q has an empty element", path)
		case ".", "..":
			return fmt.Errorf("path %q has the element %q", path, element)
		}
		for _, c := range []byte(element) {
			if !isNameByte(c) {
				return fmt.Errorf("path %q: only [A-Za-z0-9._-/] is allowed", path)
			}
		}
	}
	return nil
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '.' || c == '_' || c == '-'
}

// EncodeManifest returns the manifest of entries, sorted by path. An unsafe or
// repeated path is an error.
func EncodeManifest(entries []Entry) ([]byte, error) {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b Entry) int {
		return strings.Compare(a.Path, b.Path)
	})
	var out bytes.Buffer
	for i, e := range sorted {
		if err := CheckPath(e.Path); err != nil {
			return nil, fmt.Errorf("encode manifest: %w", err)
		}
		if i > 0 && sorted[i-1].Path == e.Path {
			return nil, fmt.Errorf("encode manifest: path %q stands twice", e.Path)
		}
		out.WriteString(e.SHA256.String())
		out.WriteString("  ")
		out.WriteString(e.Path)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

// DecodeManifest reads a manifest of at most MaxManifestBytes. Every error is
// an ErrMalformed that names the line.
func DecodeManifest(r io.Reader) ([]Entry, error) {
	limited := &io.LimitedReader{R: r, N: MaxManifestBytes + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, 4096), MaxPathBytes+128)
	var entries []Entry
	seen := make(map[string]struct{})
	for n := 1; lines.Scan(); n++ {
		e, err := decodeLine(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrMalformed, n, err)
		}
		if _, twice := seen[e.Path]; twice {
			return nil, fmt.Errorf("%w: line %d: path %q stands twice", ErrMalformed, n, e.Path)
		}
		seen[e.Path] = struct{}{}
		entries = append(entries, e)
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return nil, fmt.Errorf("%w: line %d is too long", ErrMalformed, len(entries)+1)
		}
		return nil, err
	}
	if limited.N == 0 {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrMalformed, int64(MaxManifestBytes))
	}
	return entries, nil
}

func decodeLine(line string) (Entry, error) {
	const hexDigits = 2 * len(digest.SHA256{})
	if len(line) < hexDigits+3 || (line[hexDigits:hexDigits+2] != "  " && line[hexDigits:hexDigits+2] != " *") {
		return Entry{}, errors.New("want 64 hexadecimal digits, two spaces and a path")
	}
	sum, err := digest.Parse(line[:hexDigits])
	if err != nil {
		return Entry{}, err
	}
	path := line[hexDigits+2:]
	if err := CheckPath(path); err != nil {
		return Entry{}, err
	}
	return Entry{Path: path, SHA256: sum}, nil
}
