package collect

import (
	"bytes"
	"io"
	"net/url"
	"slices"
	"strings"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// minSecret is the length below which a value is too common to be taken out of
// texts: it would hide them and reveal itself by what is missing.
const minSecret = 3

// redactor takes secrets out of texts: the exact values it was given, in the
// ways they are written in URLs, quoted strings, base64 and hexadecimal; passwords
// in front of a host (scheme://user:password@host, user:password@tcp(host)); and
// values behind a telling name (password=..., "token": "...", Bearer ...). Names
// stay. Its work is linear in the text, whatever a hostile process writes.
type redactor struct {
	values [][]byte
	// cores are what base64 makes of the values.
	cores [][]byte
}

// add makes values secrets, and passwords in front of a host that they hold.
// Short and empty ones are left out.
func (r *redactor) add(values ...string) {
	for _, value := range values {
		v := []byte(strings.TrimSpace(value))
		r.addPasswords(v)
		r.addValue(v)
	}
}

// addPasswords makes passwords in front of a host secrets, as they stand there
// and unescaped.
func (r *redactor) addPasswords(text []byte) {
	for _, s := range hostPasswords(text) {
		password := text[s.start:s.end]
		r.addValue(password)
		if plain, err := url.PathUnescape(string(password)); err == nil {
			r.addValue([]byte(plain))
		}
	}
}

func (r *redactor) addValue(v []byte) {
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
func (r *redactor) reach() int {
	most := 2 * maxPassword
	for _, v := range r.values {
		most = max(most, maxSpelled*len(v)+4)
	}
	return most
}

// spans finds every secret, by start; spans may overlap.
func (r *redactor) spans(b []byte) []span {
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
	found = append(found, hostPasswords(b)...)
	found = append(found, namedSecrets(b)...)
	slices.SortFunc(found, func(x, y span) int { return x.start - y.start })
	return found
}

// hostPasswords finds user:password@host of URLs and data source names.
func hostPasswords(b []byte) []span {
	var found []span
	for from := 0; ; {
		at := bytes.IndexByte(b[from:], '@')
		if at < 0 {
			return found
		}
		at += from
		from = at + 1
		start, colon := at, -1
		for start > 0 && at-start < maxPassword && !bytes.ContainsRune([]byte(" \t\r\n/@\"'"), rune(b[start-1])) {
			start--
			if b[start] == ':' {
				colon = start
			}
		}
		if colon < 0 || colon+1 == at {
			continue
		}
		inURL := start >= 3 && string(b[start-3:start]) == "://"
		if inURL || parenthesised(b[at+1:]) {
			found = append(found, span{context: max(0, start-3), start: colon + 1, end: at})
		}
	}
}

// parenthesised reports whether text goes on as tcp(... does.
func parenthesised(b []byte) bool {
	for i := range min(len(b), 12) {
		c := b[i]
		if c == '(' {
			return i > 0
		}
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return false
}

// secretNames are what a name ends with, in lower case, when its value is a
// secret. A bearer token stands behind a space.
var secretNames = [...]string{
	"password", "passwd", "passphrase", "secret", "token", "api_key", "api-key", "apikey",
	"access_key", "access-key", "private_key", "private-key", "bearer",
}

// namedSecrets finds values behind names.
func namedSecrets(b []byte) []span {
	var found []span
	low := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	for _, name := range secretNames {
		end := -1 // of the value that was looked at last
		for from := 0; ; {
			at := bytes.Index(low[from:], []byte(name))
			if at < 0 {
				break
			}
			at += from
			from = at + len(name)
			start, ok := valueBehind(b, from, name == "bearer")
			if !ok {
				continue
			}
			if start > end {
				end = start + valueEnd(b[start:])
			}
			if end > start {
				found = append(found, span{context: at, start: start, end: end, open: true})
			}
		}
	}
	return found
}

// valueBehind returns where the value of a name that ends at i begins, and
// whether it has one.
func valueBehind(b []byte, i int, bearer bool) (start int, ok bool) {
	skip := func(set string, most int) bool {
		n := 0
		for i < len(b) && n < most && strings.IndexByte(set, b[i]) >= 0 {
			i++
			n++
		}
		return n > 0
	}
	if bearer {
		ok = skip(" ", 4)
		return i, ok
	}
	skip("\"'\\", 2)
	skip(" ", 2)
	ok = skip("=:", 1)
	skip(" ", 2)
	skip("\"'\\", 2)
	return i, ok
}

// valueEnd is the length of a value up to its delimiter.
func valueEnd(b []byte) int {
	if n := bytes.IndexAny(b, " \t\r\n\"'\\,;&(){}[]"); n >= 0 {
		return n
	}
	return len(b)
}

// clean returns the text without secrets; b itself is not changed.
func (r *redactor) clean(b []byte) []byte { return without(b, r.spans(b), 0) }

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
			out = append(append(out, b[done:s.start]...), redacted...)
		}
		done = max(done, s.end)
	}
	return append(out, b[done:]...)
}

// text is clean for strings.
func (r *redactor) text(s string) string {
	if s == "" {
		return ""
	}
	return string(r.clean([]byte(s)))
}

// error keeps what an error is, and takes secrets out of what it says: programs
// and servers have a word in it.
func (r *redactor) error(err error) error {
	if said := err.Error(); r.text(said) != said {
		return &redactedError{text: r.text(said), err: err}
	}
	return err
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// optional is text for values that may be absent.
func (r *redactor) optional(s *string) *string {
	if s == nil {
		return nil
	}
	clean := r.text(*s)
	return &clean
}

// argv redacts an argument vector element by element; the value behind an option
// that holds a secret is taken out whole, the option's name stays.
func (r *redactor) argv(argv []string) []string {
	out := make([]string, len(argv))
	hide := false
	for i, a := range argv {
		switch {
		case hide && !strings.HasPrefix(a, "-"):
			out[i] = redacted
		default:
			out[i] = r.text(a)
		}
		hide = optionOfSecret(a)
	}
	return out
}

// optionOfSecret reports whether an argument is an option whose value is the
// argument behind it, and a secret.
func optionOfSecret(argument string) bool {
	low := strings.ToLower(argument)
	return strings.HasPrefix(low, "-") && slices.ContainsFunc(secretNames[:], func(name string) bool { return strings.HasSuffix(low, name) })
}

// reader returns what is left of a stream. It holds a window in memory, so that
// a secret that two reads share is found.
func (r *redactor) reader(src io.Reader) io.Reader {
	return &redactingReader{r: r, src: src, reach: r.reach()}
}

type redactingReader struct {
	r      *redactor
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
