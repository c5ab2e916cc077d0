package importer

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"pairbench/collect/importer/result"
	"pairbench/collect/importer/tool"
)

// MaxBytes bounds a file, and what a compressed one unpacks to.
const MaxBytes = 256 << 20

// MaxObservations bounds what one import may hold.
const MaxObservations = 100_000

// Format is one kind of file that can be imported.
type Format struct {
	Name string
	// BothArms says that a file holds both arms; the others hold one.
	BothArms bool
	read     func(src result.Source, suite string) (result.Table, error)
	// secrets finds what must not go any further.
	secrets func(text []byte) []span
}

// Formats lists what can be imported. The suite is the id that results get
// where the file names none.
func Formats() []Format {
	return []Format{
		{Name: "csv", BothArms: true, read: CSV, secrets: textSecrets},
		{Name: "hyperfine", read: tool.Hyperfine, secrets: jsonSecrets},
		{Name: "google-benchmark", read: tool.GoogleBenchmark, secrets: jsonSecrets},
		{Name: "pyperf", read: tool.Pyperf, secrets: jsonSecrets},
		{Name: "go-bench", read: tool.GoBench, secrets: nameSecrets},
		{Name: "pytest-benchmark", read: tool.PytestBenchmark, secrets: jsonSecrets},
		{Name: "memtier", read: tool.Memtier, secrets: jsonSecrets},
		{Name: "redis-benchmark", read: tool.RedisBenchmark, secrets: textSecrets},
		{Name: "wrk", read: tool.Wrk, secrets: textSecrets},
		{Name: "wrk2", read: tool.Wrk2, secrets: textSecrets},
		{Name: "k6", read: tool.K6, secrets: jsonSecrets},
		{Name: "go-ycsb", read: tool.GoYCSB, secrets: textSecrets},
	}
}

// FormatNames lists the names of Formats, for messages.
func FormatNames() string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// ByName returns the format of that name.
func ByName(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Read reads one file of the format. The Source that it returns is what belongs
// into the bundle: the file byte for byte, or without the secrets it held. What
// is read is read from there, so that no secret gets any further.
func (f Format) Read(src result.Source, suite string) (result.Table, result.Source, error) {
	fail := func(format string, args ...any) (result.Table, result.Source, error) {
		return result.Table{}, result.Source{}, &result.Error{File: src.Name, Problem: fmt.Sprintf(format, args...)}
	}
	if len(src.Data) > MaxBytes {
		return fail("found more than %d bytes, expected at most that", MaxBytes)
	}
	text := src
	if bytes.HasPrefix(src.Data, []byte{0x1f, 0x8b}) {
		var err error
		if text.Data, err = unpack(src.Data); err != nil {
			return fail("gzip: %v", err)
		}
		text.Name = strings.TrimSuffix(src.Name, ".gz")
	}
	if at := invalidUTF8(text.Data); at >= 0 {
		p := result.Place{Text: text.Data}
		line, column := p.Of(at)
		return result.Table{}, result.Source{}, &result.Error{File: src.Name, Line: line, Column: column, Problem: fmt.Sprintf("found the byte %#02x, expected UTF-8 text", text.Data[at])}
	}
	spans := f.secrets(text.Data)
	if len(spans) > maxSecrets {
		return fail("found more than %d secrets, expected the results of a benchmark", maxSecrets)
	}
	if text = without(text, spans); text.Redacted > 0 {
		src = text
	}
	if suite == "" && !f.BothArms {
		suite = strings.ReplaceAll(f.Name, "-", "_")
	}
	table, err := f.read(text, suite)
	if err != nil {
		return result.Table{}, result.Source{}, err
	}
	if n := len(table.Observations); n > MaxObservations {
		return fail("found %d results, expected at most %d", n, MaxObservations)
	}
	if src.Redacted > 0 {
		table.Warn("%s: secrets taken out: %d; the bundle keeps the rest of the file", src.Name, src.Redacted)
	}
	return table, src, nil
}

func unpack(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("found more than %d bytes, expected at most that", MaxBytes)
	}
	return text, r.Close()
}

// invalidUTF8 returns where text stops being UTF-8, or -1.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}
