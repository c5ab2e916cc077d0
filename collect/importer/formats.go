package importer

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
	"pairbench/collect/importer/tool"
	"pairbench/collect/redact"
)

// MaxBytes bounds a file, and what a compressed one unpacks to.
const MaxBytes = 256 << 20

// maxLine bounds a line of a text that is read line by line, and maxNames the
// names of all results of a file together: each process has its own.
const (
	maxLine  = 1 << 20
	maxNames = 64 << 20
)

// Format is one kind of file that can be imported.
type Format struct {
	Name string
	// BothArms says that a file holds both arms; the others hold one.
	BothArms bool
	// JSON says that a file is one object of JSON; the others are lines.
	JSON bool
	read func(src result.Source, suite string) (result.Table, error)
	// secrets finds what must not go any further.
	secrets func(text []byte) ([]span, error)
}

// Formats lists what can be imported. The suite is the id that results get
// where the file names none.
func Formats() []Format {
	return []Format{
		{Name: "csv", BothArms: true, read: CSV, secrets: textSecrets},
		{Name: "hyperfine", JSON: true, read: tool.Hyperfine, secrets: jsonSecrets},
		{Name: "google-benchmark", JSON: true, read: tool.GoogleBenchmark, secrets: jsonSecrets},
		{Name: "pyperf", JSON: true, read: tool.Pyperf, secrets: jsonSecrets},
		{Name: "go-bench", read: tool.GoBench, secrets: nameSecrets},
		{Name: "pytest-benchmark", JSON: true, read: tool.PytestBenchmark, secrets: jsonSecrets},
		{Name: "memtier", JSON: true, read: tool.Memtier, secrets: jsonSecrets},
		{Name: "redis-benchmark", read: tool.RedisBenchmark, secrets: textSecrets},
		{Name: "wrk", read: tool.Wrk, secrets: textSecrets},
		{Name: "wrk2", read: tool.Wrk2, secrets: textSecrets},
		{Name: "k6", JSON: true, read: tool.K6, secrets: jsonSecrets},
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
	if line := longLine(text.Data); line > 0 && !f.JSON {
		return result.Table{}, result.Source{}, &result.Error{File: src.Name, Line: line, Problem: fmt.Sprintf("found a line of more than %d bytes, expected a shorter one", maxLine)}
	}
	spans, err := f.secrets(text.Data)
	var bad *jsondoc.Error
	if errors.As(err, &bad) {
		place := result.Place{Text: text.Data}
		line, column := place.Of(bad.Offset)
		return result.Table{}, result.Source{}, &result.Error{File: src.Name, Line: line, Column: column, Problem: new(redact.Redactor).Text(bad.Problem)}
	}
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
	if err := f.checkNames(src.Name, table); err != nil {
		return result.Table{}, result.Source{}, err
	}
	if src.Redacted > 0 {
		table.Warn("%s: secrets taken out: %d; the bundle keeps the rest of the file", src.Name, src.Redacted)
	}
	return table, src, nil
}

// checkNames refuses names that would fill memory.
func (f Format) checkNames(file string, t result.Table) error {
	all := 0
	for _, o := range t.Observations {
		all += len(o.CellID)
		for _, factor := range o.Factors {
			all += len(factor.Name) + len(factor.Value.Str)
		}
		if all > maxNames {
			return &result.Error{File: file, Line: o.Line, Problem: fmt.Sprintf("found names of more than %d bytes together, expected shorter ones", maxNames)}
		}
	}
	return nil
}

// longLine returns the number of the first line that is too long, or 0.
func longLine(text []byte) int {
	for line := 1; ; line++ {
		n := bytes.IndexByte(text, '\n')
		if n > maxLine || n < 0 && len(text) > maxLine {
			return line
		}
		if n < 0 {
			return 0
		}
		text = text[n+1:]
	}
}

// unpack reads twice: once for the size, so that a small file that holds too
// much takes no memory.
func unpack(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	size, err := io.Copy(io.Discard, io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if size > MaxBytes {
		return nil, fmt.Errorf("found more than %d bytes, expected at most that", MaxBytes)
	}
	if r, err = gzip.NewReader(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, err
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
