package redact

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// spelling is a way in which a text can write a value other than byte for byte.
// Its unit matches the beginning of the value against that of the text and
// returns the bytes of both that it matched; 0, 0 where they differ. What a unit
// makes of a text does not depend on what stands in front of it, so that a
// stream can be cut anywhere.
type spelling func(text, value []byte) (read, matched int)

// maxSpelled is the most bytes that one byte of a value takes in any spelling.
const maxSpelled = 6

// find returns where each place with the value begins and ends; places may
// overlap.
func (s spelling) find(text, value []byte) []span {
	var found []span
	for start := range text {
		at, done := start, 0
		for done < len(value) {
			read, matched := s(text[at:], value[done:])
			if matched == 0 {
				break
			}
			at, done = at+read, done+matched
		}
		if done == len(value) {
			found = append(found, span{context: start, start: start, end: at})
		}
	}
	return found
}

// percent is what URLs and forms do; hexadecimal digits in either case, and any
// byte may be escaped or not.
func percent(text, value []byte) (read, matched int) {
	if len(text) >= 3 && text[0] == '%' {
		if b, ok := hexByte(text[1:3]); ok && b == value[0] {
			return 3, 1
		}
	}
	if len(text) > 0 && (text[0] == value[0] || text[0] == '+' && value[0] == ' ') {
		return 1, 1
	}
	return 0, 0
}

// backslash is what JSON, Go, C, Python and shells do.
func backslash(text, value []byte) (read, matched int) {
	if len(text) == 0 {
		return 0, 0
	}
	if text[0] != '\\' || len(text) < 2 {
		if text[0] == value[0] {
			return 1, 1
		}
		return 0, 0
	}
	is := text[1:2]
	read = 2
	switch c := text[1]; {
	case c == 'u' || c == 'U':
		r, n := escapedRune(text)
		is, read = utf8.AppendRune(nil, r), n
	case c == 'x' && len(text) >= 4:
		b, ok := hexByte(text[2:4])
		if !ok {
			return 0, 0
		}
		is, read = []byte{b}, 4
	case '0' <= c && c <= '3' && len(text) >= 4:
		b, err := strconv.ParseUint(string(text[1:4]), 8, 8)
		if err != nil {
			return 0, 0
		}
		is, read = []byte{byte(b)}, 4
	default:
		if i := bytes.IndexByte([]byte("abfnrtv"), c); i >= 0 {
			is = []byte("\a\b\f\n\r\t\v")[i : i+1]
		}
	}
	if read == 0 || !bytes.HasPrefix(value, is) {
		return 0, 0
	}
	return read, len(is)
}

// escapedRune reads \uXXXX, two of them for what UTF-16 writes as a pair, or
// \UXXXXXXXX, and returns its length, 0 for anything else.
func escapedRune(text []byte) (rune, int) {
	digits := 4
	if text[1] == 'U' {
		digits = 8
	}
	number := func(text []byte) (rune, bool) {
		if len(text) < 2+digits || text[0] != '\\' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(text[2:2+digits]), 16, 31)
		return rune(n), err == nil
	}
	r, ok := number(text)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if second, ok := number(text[2+digits:]); ok {
			return utf16.DecodeRune(r, second), 2 * (2 + digits)
		}
	}
	return r, 2 + digits
}

// hexadecimal is digits in either case, with or without a space or colon
// between bytes.
func hexadecimal(text, value []byte) (read, matched int) {
	if len(text) > 0 && (text[0] == ' ' || text[0] == ':') {
		read, text = 1, text[1:]
	}
	if len(text) < 2 {
		return 0, 0
	}
	if b, ok := hexByte(text[:2]); ok && b == value[0] {
		return read + 2, 1
	}
	return 0, 0
}

func hexByte(digits []byte) (byte, bool) {
	high, ok1 := hexDigit(digits[0])
	low, ok2 := hexDigit(digits[1])
	return high<<4 | low, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// wrapped is text in the standard alphabet of base64 as either alphabet writes
// it, with or without line breaks.
func wrapped(text, value []byte) (read, matched int) {
	for read < min(2, len(text)) && (text[read] == '\r' || text[read] == '\n') {
		read++
	}
	if read == len(text) {
		return 0, 0
	}
	c := text[read]
	switch c {
	case '-':
		c = '+'
	case '_':
		c = '/'
	}
	if c != value[0] {
		return 0, 0
	}
	return read + 1, 1
}

// minCore is the length below which a part of a base64 text is too common.
const minCore = 4

// base64Cores are the digits that stand for nothing but the value, wherever
// among other bytes it is encoded: three ways, for it may begin at any of three
// bytes of a group. The digits beside them hold bits of the value too.
func base64Cores(value []byte) [][]byte {
	var cores [][]byte
	for before := range 3 {
		digits := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), value...))
		from := (before*8 + 5) / 6
		to := (before + len(value)) * 8 / 6
		if to-from >= minCore {
			cores = append(cores, []byte(digits[from:to]))
		}
	}
	return cores
}

// isBase64 reports whether a byte is a digit of either alphabet.
func isBase64(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || bytes.IndexByte([]byte("+/-_"), c) >= 0
}
