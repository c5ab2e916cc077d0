package importer

import (
	"bytes"
	"strings"
)

// secretNames end a name, in lower case, whose value is a secret; authenticate
// is memtier's.
var secretNames = [...]string{
	"password", "passwd", "passphrase", "secret", "token", "authenticate",
	"api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "private_key", "private-key", "privatekey",
}

// isSecretName reports whether a member of that name holds a secret.
func isSecretName(name string) bool {
	name = strings.ToLower(name)
	for _, s := range secretNames {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}

// span is where a secret stands in a text. It may be a whole value of JSON.
type span struct {
	start, end int
	value      bool
}

// secretsIn finds, in the part of a text from start to end, passwords in front
// of a host, values behind a telling name or option, and credentials of HTTP,
// and stops beyond maxSecrets. Its work is linear in the text, whatever a hostile
// file holds.
func secretsIn(text []byte, start, end int) []span {
	found := hostPasswords(text, start, end)
	low := make([]byte, end-start)
	for i, c := range text[start:end] {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	behind := func(name string, value func(t scanner) (span, bool)) {
		for from := 0; ; {
			at := bytes.Index(low[from:], []byte(name))
			if at < 0 {
				return
			}
			from += at + len(name)
			if len(found) > maxSecrets {
				return
			}
			if s, ok := value(scanner{text[:end], start + from, start}); ok {
				found = append(found, s)
				from = s.end - start
			}
		}
	}
	for _, name := range secretNames {
		behind(name, scanner.named)
	}
	behind("bearer", scanner.credential)
	behind(": basic", scanner.credential)
	return found
}

// maxUserInfo bounds user and password in front of a host.
const maxUserInfo = 512

// hostPasswords finds the password of scheme://user:password@host, also where
// JSON escapes the slashes.
func hostPasswords(text []byte, start, end int) []span {
	return append(passwordsBehind("://", text, start, end), passwordsBehind(`:\/\/`, text, start, end)...)
}

func passwordsBehind(separator string, text []byte, start, end int) []span {
	var found []span
	for from := start; ; {
		at := bytes.Index(text[from:end], []byte(separator))
		if at < 0 || len(found) > maxSecrets {
			return found
		}
		from += at + len(separator)
		part := text[from:min(end, from+maxUserInfo)]
		stop := bytes.IndexAny(part, "@/?# \t\r\n\"'\\")
		if stop < 0 || part[stop] != '@' {
			continue
		}
		if colon := bytes.IndexByte(part[:stop], ':'); colon >= 0 && colon+1 < stop {
			found = append(found, span{start: from + colon + 1, end: from + stop})
		}
	}
}

// scanner is a place in a text, behind a word.
type scanner struct {
	text     []byte
	at, from int // from is where the text begins
}

func (s *scanner) skip(set string, most int) (n int) {
	for n < most && s.at < len(s.text) && strings.IndexByte(set, s.text[s.at]) >= 0 {
		s.at++
		n++
	}
	return n
}

// until returns the text from here to a byte of the set.
func (s scanner) until(set string) (span, bool) {
	n := bytes.IndexAny(s.text[s.at:], set)
	if n < 0 {
		n = len(s.text) - s.at
	}
	return span{start: s.at, end: s.at + n}, n > 0
}

// valueEnds are what a value behind a name ends at.
const valueEnds = " \t\r\n\"'\\,;&(){}[]"

// named finds the value of password=x, "password": "x" and --password x.
func (s scanner) named() (span, bool) {
	option := s
	s.skip("\\", 1)
	s.skip("\"'", 1)
	s.skip(" ", 4)
	if s.skip("=:", 1) == 1 {
		s.skip(" ", 4)
		s.skip("\\", 1)
		s.skip("\"'", 1)
		return s.until(valueEnds)
	}
	if option.skip(" \t", 4) == 0 || !s.isOption(option.at) || option.at < len(option.text) && option.text[option.at] == '-' {
		return span{}, false
	}
	return option.until(valueEnds)
}

// maxOption bounds the name of an option.
const maxOption = 64

// isOption reports whether the word in front of a place begins with a dash.
func (s scanner) isOption(at int) bool {
	word := bytes.TrimRight(s.text[max(s.from, at-maxOption):at], " \t")
	word = word[bytes.LastIndexAny(word, " \t\r\n\"'")+1:]
	return len(word) > 0 && word[0] == '-'
}

// minCredential is below what a credential of HTTP has.
const minCredential = 6

// credential finds what stands behind Bearer and Basic.
func (s scanner) credential() (span, bool) {
	if s.skip(" ", 4) == 0 {
		return span{}, false
	}
	found, _ := s.until(valueEnds)
	return found, found.end-found.start >= minCredential
}
