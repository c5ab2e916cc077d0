package jsondoc

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds on what Parse takes.
const (
	MaxBytes = 256 << 20
	MaxDepth = 200
	// MaxNodes bounds memory: a node takes 16 bytes, and a file may be all commas.
	MaxNodes = 8 << 20
)

// Kind says what a value is.
type Kind uint8

// The kinds. Nothing is the kind of a member that is not there, NotFinite that
// of the bare tokens NaN and Infinity, with or without sign.
const (
	Nothing Kind = iota
	Null
	Bool
	Number
	NotFinite
	String
	Array
	Object
)

var kindNames = [...]string{"nothing", "null", "true or false", "a number", "NaN or Infinity", "a text", "a list", "an object"}

func (k Kind) String() string { return kindNames[k] }

// Error says where the text stops being JSON.
type Error struct {
	Offset  int
	Problem string
}

func (e *Error) Error() string { return e.Problem }

type node struct {
	kind Kind
	// span is the number of nodes of the value, itself included.
	span       uint32
	start, end uint32 // bytes of the text, quotes and brackets included
}

// Document is one parsed text. It keeps the text.
type Document struct {
	text  []byte
	nodes []node
}

// Value is one value of a document. The zero Value has the kind Nothing.
type Value struct {
	doc *Document
	at  int
}

// Parse reads one object of UTF-8 text. Lines before the one that begins it are
// passed over; nothing but space may follow it.
func Parse(text []byte) (Value, error) {
	if len(text) > MaxBytes {
		return Value{}, &Error{MaxBytes, fmt.Sprintf("found %d bytes, expected at most %d", len(text), MaxBytes)}
	}
	// Room for the values of dense text at once: growing would take it twice.
	p := parser{Document: &Document{text: text, nodes: make([]node, 0, min(len(text)/8+64, MaxNodes))}}
	if err := p.findStart(); err != nil {
		return Value{}, err
	}
	if err := p.value(0); err != nil {
		return Value{}, err
	}
	p.space()
	if p.pos < len(text) {
		return Value{}, p.fail("found text after the end of the JSON, expected nothing")
	}
	return Value{doc: p.Document, at: 0}, nil
}

type parser struct {
	*Document
	pos int
}

func (p *parser) fail(format string, args ...any) error {
	return &Error{p.pos, fmt.Sprintf(format, args...)}
}

// findStart goes to the first line that begins with a brace: tools print
// warnings before it.
func (p *parser) findStart() error {
	for line := len(p.text) - len(bytes.TrimPrefix(p.text, []byte("\ufeff"))); line < len(p.text); {
		p.pos = line
		p.space()
		if p.pos < len(p.text) && p.text[p.pos] == '{' {
			return nil
		}
		next := bytes.IndexByte(p.text[line:], '\n')
		if next < 0 {
			break
		}
		line += next + 1
	}
	p.pos = 0
	return p.fail("found no line that begins with '{', expected a JSON object")
}

func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

// add appends a node that begins here and returns its index.
func (p *parser) add(kind Kind) (int, error) {
	if len(p.nodes) >= MaxNodes {
		return 0, p.fail("found more than %d values, expected fewer", MaxNodes)
	}
	p.nodes = append(p.nodes, node{kind: kind, start: uint32(p.pos)})
	return len(p.nodes) - 1, nil
}

func (p *parser) finish(at int) {
	p.nodes[at].end = uint32(p.pos)
	p.nodes[at].span = uint32(len(p.nodes) - at)
}

func (p *parser) value(depth int) error {
	if depth > MaxDepth {
		return p.fail("found more than %d levels of nesting, expected fewer", MaxDepth)
	}
	p.space()
	if p.pos >= len(p.text) {
		return p.fail("found the end of the file, expected a value")
	}
	switch c := p.text[p.pos]; c {
	case '{':
		return p.container(Object, '}', depth)
	case '[':
		return p.container(Array, ']', depth)
	case '"':
		return p.str()
	default:
		return p.word()
	}
}

func (p *parser) container(kind Kind, closing byte, depth int) error {
	at, err := p.add(kind)
	if err != nil {
		return err
	}
	p.pos++
	for first := true; ; first = false {
		p.space()
		switch {
		case p.pos >= len(p.text):
			return p.fail("found the end of the file, expected %q", closing)
		case p.text[p.pos] == closing && first:
			p.pos++
			p.finish(at)
			return nil
		}
		if kind == Object {
			if p.text[p.pos] != '"' {
				return p.fail("found %s, expected a name in quotes", p.here())
			}
			if err := p.str(); err != nil {
				return err
			}
			p.space()
			if p.pos >= len(p.text) || p.text[p.pos] != ':' {
				return p.fail("found %s, expected ':'", p.here())
			}
			p.pos++
		}
		if err := p.value(depth + 1); err != nil {
			return err
		}
		p.space()
		switch {
		case p.pos < len(p.text) && p.text[p.pos] == ',':
			p.pos++
		case p.pos < len(p.text) && p.text[p.pos] == closing:
			p.pos++
			p.finish(at)
			return nil
		default:
			return p.fail("found %s, expected ',' or %q", p.here(), closing)
		}
	}
}

// here is the character at the position, for errors.
func (p *parser) here() string {
	if p.pos >= len(p.text) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRune(p.text[p.pos:])
	return strconv.QuoteRune(r)
}

// str reads a string. A quote ends it only where JSON can go on behind it;
// another one is taken for a character that the tool forgot to escape.
func (p *parser) str() error {
	at, err := p.add(String)
	if err != nil {
		return err
	}
	for i := p.pos + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '\n':
			p.pos = i
			return p.fail("found the end of the line inside a text, expected its closing quote")
		case '"':
			if p.endsAt(i + 1) {
				p.pos = i + 1
				p.finish(at)
				return nil
			}
		}
	}
	p.pos = len(p.text)
	return p.fail("found the end of the file inside a text, expected its closing quote")
}

func (p *parser) endsAt(i int) bool {
	for ; i < len(p.text); i++ {
		switch p.text[i] {
		case ' ', '\t', '\r', '\n':
		case ',', ':', '}', ']':
			return true
		default:
			return false
		}
	}
	return true
}

// word reads what has no quotes: numbers and the named values.
func (p *parser) word() error {
	start := p.pos
	end := start
	for end < len(p.text) && bytes.IndexByte([]byte(" \t\r\n,:{}[]\""), p.text[end]) < 0 {
		end++
	}
	text := p.text[start:end]
	kind := Nothing
	switch {
	case string(text) == "null":
		kind = Null
	case string(text) == "true", string(text) == "false":
		kind = Bool
	case isNumber(text):
		kind = Number
	case IsNotFinite(string(text[:min(len(text), 16)])):
		kind = NotFinite
	default:
		return p.fail("found %.40q, expected a value", text)
	}
	at, err := p.add(kind)
	if err != nil {
		return err
	}
	p.pos = end
	p.finish(at)
	return nil
}

// IsNotFinite knows how C, Python, JavaScript and Windows print what is no
// number.
func IsNotFinite(text string) bool {
	switch strings.ToLower(strings.TrimLeft(text[:min(len(text), 16)], "+-")) {
	case "nan", "inf", "infinity", "nan(ind)", "nan(snan)", "1.#inf", "1.#ind", "1.#qnan":
		return true
	}
	return false
}

func isNumber(text []byte) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(text) && text[i] == '-' {
		i++
	}
	if !digits() {
		return false
	}
	if i < len(text) && text[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(text)
}

// Kind returns what the value is.
func (v Value) Kind() Kind {
	if v.doc == nil {
		return Nothing
	}
	return v.doc.nodes[v.at].kind
}

// Span returns the bytes of the text that the value takes, quotes included.
func (v Value) Span() (start, end int) {
	if v.doc == nil {
		return 0, 0
	}
	n := v.doc.nodes[v.at]
	return int(n.start), int(n.end)
}

// Literal returns the value as it stands in the text, quotes included.
func (v Value) Literal() string {
	start, end := v.Span()
	if v.doc == nil {
		return ""
	}
	return string(v.doc.text[start:end])
}

// Text returns a string without quotes and escapes, and the literal of
// everything else.
func (v Value) Text() string {
	literal := v.Literal()
	if v.Kind() != String {
		return literal
	}
	return unescape(literal[1 : len(literal)-1])
}

// Get returns a member of an object: of several with one name the first,
// because tools put what users name after what they name themselves. It is
// Nothing where there is none, or no object.
func (v Value) Get(name string) Value {
	for key, member := range v.Members() {
		if key.Is(name) {
			return member
		}
	}
	return Value{}
}

// maxEscape is the most that one byte of a text takes as JSON: \u002f.
const maxEscape = 6

// Is reports whether the value is that text. A long value costs nothing.
func (v Value) Is(text string) bool {
	start, end := v.Span()
	return end-start-2 <= maxEscape*len(text) && v.Kind() == String && v.Text() == text
}

// Members visits names and values of an object in their order; nothing of what
// is no object.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		if v.Kind() != Object {
			return
		}
		end := v.at + int(v.doc.nodes[v.at].span)
		for at := v.at + 1; at < end; {
			member := at + 1
			if !yield(Value{v.doc, at}, Value{v.doc, member}) {
				return
			}
			at = member + int(v.doc.nodes[member].span)
		}
	}
}

// Items visits the values of a list; nothing of what is no list.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != Array {
			return
		}
		end := v.at + int(v.doc.nodes[v.at].span)
		for at := v.at + 1; at < end; at += int(v.doc.nodes[at].span) {
			if !yield(Value{v.doc, at}) {
				return
			}
		}
	}
}

// unescape resolves escapes; what is no escape of JSON, such as a path of
// Windows that was not escaped, stays as it is.
func unescape(s string) string {
	at := 0
	for at < len(s) && s[at] != '\\' {
		at++
	}
	if at == len(s) {
		return s
	}
	out := []byte(s[:at])
	for i := at; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, width := unicodeEscape(s[i+1:])
			if width == 0 {
				out = append(out, '\\', 'u')
				continue
			}
			out = utf8.AppendRune(out, r)
			i += width
		default:
			out = append(out, '\\', c)
		}
	}
	return string(out)
}

// unicodeEscape reads the digits behind \u, with the second half of a pair; the
// width is 0 when there are none.
func unicodeEscape(s string) (r rune, width int) {
	hex := func(s string) (rune, bool) {
		if len(s) < 4 {
			return 0, false
		}
		n, err := strconv.ParseUint(s[:4], 16, 16)
		return rune(n), err == nil
	}
	r, ok := hex(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) && len(s) >= 10 && s[4] == '\\' && s[5] == 'u' {
		if low, ok := hex(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 10
			}
		}
	}
	return r, 4 // half a pair becomes the replacement character
}
