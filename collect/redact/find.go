package redact

import (
	"bytes"
	"regexp"
	"strings"
)

// Span is where a secret stands in a text.
type Span struct{ Start, End int }

// Find returns where a text tells secrets by itself: passwords in front of a host
// (scheme://user:password@host, user:password@tcp(host)), values behind a telling
// name (password=..., "token": "...", --api-key ...), those of the short options
// of well-known tools (redis-cli -a ..., curl -u user:...), and credentials of
// HTTP (Bearer ..., Authorization: Basic ...). Spans may overlap and come in no
// order; with more than most of them it stops.
func Find(text []byte, most int) []Span { return outer(find(text, most)) }

func find(text []byte, most int) []span {
	return append(append(hostPasswords(text, most), namedSecrets(text, most)...), toolSecrets(text, most)...)
}

// HostPasswords returns only the passwords in front of a host.
func HostPasswords(text []byte, most int) []Span { return outer(hostPasswords(text, most)) }

func outer(found []span) []Span {
	out := make([]Span, len(found))
	for i, s := range found {
		out[i] = Span{s.start, s.end}
	}
	return out
}

// secretNames end a name, in lower case, whose value is a secret; authenticate is
// memtier's.
var secretNames = [...]string{
	"password", "passwd", "passphrase", "secret", "token", "authenticate",
	"api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "private_key", "private-key", "privatekey",
}

// secretWord matches words that are too short to be looked for anywhere in a
// name.
var secretWord = regexp.MustCompile(`(?i)(^|[_.-])(password|passwd|passphrase|pwd|token|secret|credentials?|private[_-]?key|api[_-]?key|access[_-]?key|auth)($|[_.-])`)

// secretReference matches names that say where a secret is.
var secretReference = regexp.MustCompile(`(?i)[_.-](env|file|path)$`)

// Name reports whether a key, a variable or an option of this name is taken to
// hold a secret.
func Name(name string) bool {
	if secretReference.MatchString(name) {
		return false
	}
	low := strings.ToLower(name)
	for _, s := range secretNames {
		if strings.HasSuffix(low, s) {
			return true
		}
	}
	return secretWord.MatchString(name)
}

// hostPasswords finds user:password@host of URLs, also where JSON escapes the
// slashes, and of data source names.
func hostPasswords(b []byte, most int) []span {
	var found []span
	for from := 0; len(found) <= most; {
		at := bytes.IndexByte(b[from:], '@')
		if at < 0 {
			return found
		}
		at += from
		from = at + 1
		start, colon := at, -1
		for start > 0 && at-start < maxPassword && bytes.IndexByte([]byte(" \t\r\n/@\"'"), b[start-1]) < 0 {
			start--
			if b[start] == ':' {
				colon = start
			}
		}
		if colon < 0 || colon+1 == at {
			continue
		}
		if inURL := bytes.HasSuffix(b[:start], []byte("://")) || bytes.HasSuffix(b[:start], []byte(`:\/\/`)); inURL || parenthesised(b[at+1:]) {
			found = append(found, span{context: max(0, start-5), start: colon + 1, end: at})
		}
	}
	return found
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

// namedSecrets finds values behind names and options, and credentials.
func namedSecrets(b []byte, most int) []span {
	var found []span
	low := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	behind := func(name string, value func(b []byte, name, i int) (context, start int, ok bool), least int) {
		end := -1 // of the value that was looked at last
		for from := 0; len(found) <= most; {
			at := bytes.Index(low[from:], []byte(name))
			if at < 0 {
				return
			}
			at += from
			from = at + len(name)
			context, start, ok := value(b, at, from)
			if !ok {
				continue
			}
			if start > end {
				end = start + valueEnd(b[start:])
			}
			if end-start >= least {
				found = append(found, span{context: context, start: start, end: end, open: true})
			}
		}
	}
	for _, name := range secretNames {
		behind(name, valueBehind, 1)
	}
	behind("bearer", credential, minCredential)
	behind(": basic", credential, minCredential)
	return found
}

// toolOptions are options without a telling name. What stands directly behind an
// attached one is its value; of a user the password stands behind a colon.
var toolOptions = [...]struct {
	tool, option   string
	attached, user bool
}{
	{tool: "redis-cli", option: "-a"}, {tool: "redis-benchmark", option: "-a"},
	{tool: "memtier_benchmark", option: "-a"}, {tool: "sshpass", option: "-p"},
	{tool: "mysql", option: "-p", attached: true}, {tool: "mysqladmin", option: "-p", attached: true},
	{tool: "mysqldump", option: "-p", attached: true}, {tool: "mysqlslap", option: "-p", attached: true},
	{tool: "curl", option: "-u", user: true}, {tool: "curl", option: "--user", user: true},
}

// maxCommand bounds how far behind its tool an option is looked for.
const maxCommand = 256

// toolSecrets finds the values of toolOptions.
func toolSecrets(b []byte, most int) []span {
	var found []span
	for _, o := range toolOptions {
		for from := 0; len(found) <= most; {
			at := bytes.Index(b[from:], []byte(o.tool+" "))
			if at < 0 {
				break
			}
			at += from
			from = at + len(o.tool)
			if at > 0 && strings.IndexByte(" \t\r\n\"'/(;&|`", b[at-1]) < 0 {
				continue
			}
			command := b[from:min(len(b), from+maxCommand)]
			if end := bytes.IndexAny(command, "\r\n;|&"); end >= 0 {
				command = command[:end]
			}
			option := bytes.Index(command, []byte(" "+o.option))
			if option < 0 {
				continue
			}
			named := from + option + 1 + len(o.option)
			start := named
			if !o.attached {
				if start = skip(b, named, " =", 4); start == named {
					continue
				}
				start = skip(b, start, "\"'\\", 2)
			}
			end := start + valueEnd(b[start:])
			if o.user {
				colon := bytes.IndexByte(b[start:end], ':')
				if colon < 0 {
					continue
				}
				start += colon + 1
			}
			if end > start {
				found = append(found, span{context: at, start: start, end: end, open: true})
			}
		}
	}
	return found
}

// skip returns where a text goes on behind at most so many bytes of a set.
func skip(b []byte, i int, set string, most int) int {
	for n := 0; i < len(b) && n < most && strings.IndexByte(set, b[i]) >= 0; n++ {
		i++
	}
	return i
}

// valueBehind returns where the value of a name begins that stands from name to
// i, and whether it has one: password=x, "password": "x", --password x.
func valueBehind(b []byte, name, i int) (context, start int, ok bool) {
	const quotes = "\"'\\"
	at := skip(b, skip(b, i, quotes, 2), " ", 4)
	if value := skip(b, at, "=:", 1); value > at {
		return name, skip(b, skip(b, value, " ", 4), quotes, 2), true
	}
	value := skip(b, i, " \t", 4)
	word := wordBefore(b, name)
	return word, value, value > i && b[word] == '-' && value < len(b) && b[value] != '-'
}

// maxOption bounds the name of an option.
const maxOption = 64

// wordBefore returns where the word begins that stands before i or goes on
// there; i itself where that is too far away.
func wordBefore(b []byte, i int) int {
	for at := i; at >= 0 && i-at <= maxOption; at-- {
		if at == 0 || strings.IndexByte(" \t\r\n\"'", b[at-1]) >= 0 {
			return at
		}
	}
	return i
}

// minCredential is below what a credential of HTTP has.
const minCredential = 6

// credential returns what stands behind Bearer and Basic.
func credential(b []byte, name, i int) (context, start int, ok bool) {
	start = skip(b, i, " ", 4)
	return name, start, start > i
}

// valueEnd is the length of a value up to its delimiter.
func valueEnd(b []byte) int {
	if n := bytes.IndexAny(b, " \t\r\n\"'\\,;&(){}[]"); n >= 0 {
		return n
	}
	return len(b)
}
