package redact

import (
	"bytes"
	"io"
	"net/url"
	"slices"
	"strings"
)

// Mark stands where a secret stood.
const Mark = "[redacted]"

// minSecret is the length below which a value is too common to be taken out of
// texts: it would hide them and reveal itself by what is missing.
const minSecret = 3

// Redactor takes secrets out of texts: the values it was given, in the ways they
// are written in URLs, quoted strings, base64 and hexadecimal, and what Find
// finds. Names stay. Its work is linear in the text, whatever a hostile process
// writes. The zero Redactor knows no values.
type Redactor struct {
	values [][]byte
	// cores are what base64 makes of the values.
	cores [][]byte
}

// Add makes values secrets, and passwords in front of a host that they hold.
// Short and empty ones are left out.
func (r *Redactor) Add(values ...string) {
	for _, value := range values {
		v := []byte(strings.TrimSpace(value))
		r.AddPasswords(v)
		r.addValue(v)
	}
}

// AddPasswords makes passwords in front of a host secrets, as they stand there
// and unescaped.
func (r *Redactor) AddPasswords(text []byte) {
	for _, s := range hostPasswords(text, len(text)) {
		password := text[s.start:s.end]
		r.addValue(password)
		if plain, err := url.PathUnescape(string(password)); err == nil {
			r.addValue([]byte(plain))
		}
	}
}

func (r *Redactor) addValue(v []byte) {
	if len(v) < minSecret || slices.ContainsFunc(r.values, func(known []byte) bool { return bytes.Equal(known, v) }) {
		return
	}
	r.values = append(r.values, v)
	r.cores = append(r.cores, base64Cores(v)...)
}

// span is a secret in a text: from start to end. It is known to be one because
// of the text from context on.
type span struct {
	context, start, end int
	// open spans end at a delimiter, however far it is.
	open bool
}

// maxPassword bounds a password in front of a host, with the user's name.
const maxPassword = 256

// reach is the number of bytes over which what makes a span can extend, the
// value of an open one apart, so that a stream can be redacted in pieces.
func (r *Redactor) reach() int {
	most := 2 * maxPassword
	for _, v := range r.values {
		most = max(most, maxSpelled*len(v)+4)
	}
	return most
}

// spans finds every secret, by start; spans may overlap.
func (r *Redactor) spans(b []byte) []span {
	var found []span
	escaped, quoted := bytes.ContainsAny(b, "%+"), bytes.IndexByte(b, '\\') >= 0
	for _, v := range r.values {
		for from := 0; ; {
			at := bytes.Index(b[from:], v)
			if at < 0 {
				break
			}
			at += from
			found = append(found, span{context: at, start: at, end: at + len(v)})
			from = at + len(v)
		}
		if escaped {
			found = append(found, spelling(percent).find(b, v)...)
		}
		if quoted {
			found = append(found, spelling(backslash).find(b, v)...)
		}
		found = append(found, spelling(hexadecimal).find(b, v)...)
	}
	for _, core := range r.cores {
		for _, s := range spelling(wrapped).find(b, core) {
			if s.start > 0 && isBase64(b[s.start-1]) {
				s.start--
			}
			if s.end < len(b) && isBase64(b[s.end]) {
				s.end++
			}
			for n := 0; n < 2 && s.end < len(b) && b[s.end] == '='; n++ {
				s.end++
			}
			s.context = s.start
			found = append(found, s)
		}
	}
	found = append(found, find(b, len(b))...)
	slices.SortFunc(found, func(x, y span) int { return x.start - y.start })
	return found
}

// Clean returns the text without secrets; b itself is not changed.
func (r *Redactor) Clean(b []byte) []byte { return without(b, r.spans(b), 0) }

// without writes one mark for each run of overlapping spans. The text up to
// hidden belongs to a span whose mark is written already.
func without(b []byte, spans []span, hidden int) []byte {
	if len(spans) == 0 && hidden == 0 {
		return b
	}
	var out []byte
	done := hidden // up to where b is copied or hidden
	for _, s := range spans {
		if s.start >= done {
			out = append(append(out, b[done:s.start]...), Mark...)
		}
		done = max(done, s.end)
	}
	return append(out, b[done:]...)
}

// Text is Clean for strings.
func (r *Redactor) Text(s string) string {
	if s == "" {
		return ""
	}
	return string(r.Clean([]byte(s)))
}

// Error keeps what an error is, and takes secrets out of what it says: programs
// and servers have a word in it.
func (r *Redactor) Error(err error) error {
	if said := err.Error(); r.Text(said) != said {
		return &redactedError{text: r.Text(said), err: err}
	}
	return err
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// Optional is Text for values that may be absent.
func (r *Redactor) Optional(s *string) *string {
	if s == nil {
		return nil
	}
	clean := r.Text(*s)
	return &clean
}

// Argv redacts an argument vector element by element; the value behind an option
// that holds a secret is taken out whole, the option's name stays.
func (r *Redactor) Argv(argv []string) []string {
	out := make([]string, len(argv))
	hide := false
	for i, a := range argv {
		switch {
		case hide && !strings.HasPrefix(a, "-"):
			out[i] = Mark
		default:
			out[i] = r.Text(a)
		}
		hide = optionOfSecret(a)
	}
	return out
}

// optionOfSecret reports whether an argument is an option whose value is the
// argument behind it, and a secret.
func optionOfSecret(argument string) bool {
	return strings.HasPrefix(argument, "-") && Name(strings.TrimLeft(argument, "-"))
}

// Reader returns what is left of a stream. It holds a window in memory, so that
// a secret that two reads share is found.
func (r *Redactor) Reader(src io.Reader) io.Reader {
	return &redactingReader{r: r, src: src, reach: r.reach()}
}

type redactingReader struct {
	r      *Redactor
	src    io.Reader
	reach  int
	window []byte // read, and not yet redacted
	hiding bool   // the window begins inside an open span
	ready  []byte // redacted, and not yet given out
	err    error
}

const windowBytes = 256 << 10

func (s *redactingReader) Read(p []byte) (int, error) {
	for len(s.ready) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.fill()
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// fill reads a window and redacts the part of it that no secret reaches beyond.
// The cut lies in front of every secret that it would go through; through the
// value of an open span it may go, and the next window goes on hiding.
func (s *redactingReader) fill() {
	start := len(s.window)
	s.window = slices.Grow(s.window, windowBytes)[:start+windowBytes]
	n, err := io.ReadFull(s.src, s.window[start:])
	s.window = s.window[:start+n]
	cut := len(s.window) - s.reach
	if err != nil {
		s.err = err
		if err == io.ErrUnexpectedEOF {
			s.err = io.EOF
		}
		cut = len(s.window)
	}
	if s.err == nil {
		cut = wordBefore(s.window, cut)
	}
	hidden := 0
	if s.hiding {
		hidden = valueEnd(s.window)
	}
	spans := s.r.spans(s.window)
	for moved := true; moved; {
		moved = false
		for _, sp := range spans {
			if through := sp.open && sp.start < cut; !through && sp.context < cut && sp.end > cut {
				cut, moved = sp.context, true
			}
		}
	}
	if cut <= 0 {
		return
	}
	s.hiding = hidden > cut
	var before []span
	for _, sp := range spans {
		if sp.start < cut {
			s.hiding = s.hiding || sp.end > cut
			sp.end = min(sp.end, cut)
			before = append(before, sp)
		}
	}
	s.ready = without(s.window[:cut], before, min(hidden, cut))
	s.window = bytes.Clone(s.window[cut:])
}
