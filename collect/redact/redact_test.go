package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRedact(t *testing.T) {
	var r Redactor
	r.Add("s3cr:t/x", "ab", "")
	for text, want := range map[string]string{
		"plain text, ab and 3 tokens: 5":              "plain text, ab and 3 tokens: 5",
		"the value s3cr:t/x stands here":              "the value [redacted] stands here",
		"escaped s3cr%3At%2Fx":                        "escaped [redacted]",
		"encoded czNjcjp0L3g=":                        "encoded [redacted]",
		"redis://:pw@h:1/0":                           "redis://:[redacted]@h:1/0",
		"mysql://u:p:w@h":                             "mysql://u:[redacted]@h",
		"u:pw@tcp(127.0.0.1:3306)/db":                 "u:[redacted]@tcp(127.0.0.1:3306)/db",
		"u:@tcp(h)":                                   "u:@tcp(h)",
		"mail me at a@b.c, time 12:30@noon":           "mail me at a@b.c, time 12:30@noon",
		"http://host:80/path@x":                       "http://host:80/path@x",
		"--password=pw --port=1":                      "--password=[redacted] --port=1",
		`{"password": "pw", "user": "u"}`:             `{"password": "[redacted]", "user": "u"}`,
		"MYSQL_PWD_FILE=/x DB_PASSWORD=pw;next":       "MYSQL_PWD_FILE=/x DB_PASSWORD=[redacted];next",
		"Authorization: Bearer abc.def":               "Authorization: Bearer [redacted]",
		"Access denied for user (using password: NO)": "Access denied for user (using password: [redacted])",
		"redis:\\/\\/u:pw@h":                          "redis:\\/\\/u:[redacted]@h",
		"curl --api-key pw -v":                        "curl --api-key [redacted] -v",
		"redis-cli -h h -a pw GET x":                  "redis-cli -h h -a [redacted] GET x",
		"/usr/bin/memtier_benchmark -a 'pw' -n 5":     "/usr/bin/memtier_benchmark -a '[redacted]' -n 5",
		"time redis-benchmark -a pw; ls -a x":         "time redis-benchmark -a [redacted]; ls -a x",
		"mysql -uroot -ppw -P3306 db":                 "mysql -uroot -p[redacted] -P3306 db",
		"mysql-bench -parallel 4":                     "mysql-bench -parallel 4",
		"curl -s -u me:pw http://h":                   "curl -s -u me:[redacted] http://h",
		"curl --user me http://h":                     "curl --user me http://h",
		"curl --token --next":                         "curl --token --next",
		"Authorization: Basic dXNlcjpwYQ==":           "Authorization: Basic [redacted]",
		"a bearer of bad news":                        "a bearer of bad news",
		"memtier_benchmark --authenticate=pw":         "memtier_benchmark --authenticate=[redacted]",
		"password":                                    "password",
		"password=":                                   "password=",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	argv := r.Argv([]string{"x", "--db-password", "pw", "--token", "-v", "s3cr:t/x"})
	if got, want := strings.Join(argv, " "), "x --db-password [redacted] --token -v [redacted]"; got != want {
		t.Errorf("argv became %s, want %s", got, want)
	}
}

// TestRedactSpellings writes a secret in the ways that programs and servers do.
func TestRedactSpellings(t *testing.T) {
	const value = "s3 cr\"et\\Zx/9+qÜ😀%"
	var r Redactor
	r.Add(value + "\n")
	quoted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	basic := []byte("user:" + value)
	for text, rest := range map[string]string{
		url.QueryEscape(value): "", url.PathEscape(value): "",
		"%73" + value[1:]: "", "s%33%20cr" + url.QueryEscape(value)[5:]: "",
		string(quoted): `""`, strconv.QuoteToASCII(value): `""`,
		strings.ReplaceAll(string(quoted), "/", `\/`): `""`, `\163\063` + string(quoted[3:len(quoted)-1]): "", `\ud83d\ude00` + value: `\ud83d\ude00`,
		hex.EncodeToString([]byte(value)): "", strings.ToUpper(hex.EncodeToString([]byte(value))): "",
		fmt.Sprintf("% x", value): "", `\x` + strings.ReplaceAll(fmt.Sprintf("% x", value), " ", `\x`): "",
		base64.StdEncoding.EncodeToString([]byte(value + "\n")): "", base64.RawURLEncoding.EncodeToString([]byte(value)): "",
		"Basic " + base64.StdEncoding.EncodeToString(basic):                                                                  "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"))[:6],
		"Basic " + base64.URLEncoding.EncodeToString(append(basic, "x"...)):                                                  "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"))[:6],
		base64.StdEncoding.EncodeToString([]byte(value))[:9] + "\r\n" + base64.StdEncoding.EncodeToString([]byte(value))[9:]: "",
	} {
		got := r.Text(text)
		plain := strings.ReplaceAll(got, Mark, "")
		if got == text || !strings.HasPrefix(plain, rest) || len(plain) > len(rest)+3 {
			t.Errorf("%q became %q, want %q around the mark", text, got, rest)
		}
	}
	// A data source name's password is a secret of its own.
	r.Add("mysql://user:dsn-passw0rd@db/x")
	if got := r.Text("dsn%2Dpassw0rd"); got != Mark {
		t.Errorf("the password of a data source name became %q", got)
	}
}

// TestRedactStream cuts a stream at every place: what comes out must be what
// comes out of the whole.
func TestRedactStream(t *testing.T) {
	var r Redactor
	r.Add("needle-in-haystack")
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"needle-in-haystack", "password=" + strings.Repeat("x", 3000), "--db-password tt ", "z--token z ", "Bearer abcdefgh", "u:pw@tcp(h)", "://u:pw@h", "\n", " ", "\xff\x00", "token: t", "bmVlZGxlLWluLWhheXN0YWNr", "6e6565646c652d696e2d6861797374616363", `\u006e\\needle\x2din-haystack`, "needle%2din-haystack", strings.Repeat("hay", 1000), "@", ":"}
	var text bytes.Buffer
	for text.Len() < 3*windowBytes {
		text.WriteString(pieces[rng.IntN(len(pieces))])
	}
	for shift := range 40 {
		source := append(bytes.Repeat([]byte("z"), shift*windowBytes/40), text.Bytes()...)
		want := r.Clean(source)
		got, err := io.ReadAll(r.Reader(iotest.OneByteReader(bytes.NewReader(source[:0:0]))))
		if err != nil || len(got) != 0 {
			t.Fatalf("empty stream: %q, %v", got, err)
		}
		got, err = io.ReadAll(r.Reader(iotest.HalfReader(bytes.NewReader(source))))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Fatalf("shift %d: stream gives %d bytes, the whole %d; from byte %d on: %q, want %q", shift, len(got), len(want), at,
				got[max(0, at-50):min(len(got), at+80)], want[max(0, at-50):min(len(want), at+80)])
		}
		if bytes.Contains(got, []byte("needle-in")) || bytes.Contains(got, []byte("pw")) || bytes.Contains(got, []byte("xxx")) {
			t.Fatalf("shift %d: a secret is left", shift)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("a needle-in-haystack b", 3)
	f.Add("x://u:pw@h password=needle-in-haystack", 20)
	f.Fuzz(func(t *testing.T, text string, _ int) {
		var r Redactor
		r.Add("needle-in-haystack")
		whole := r.Clean([]byte(text))
		if bytes.Contains(whole, []byte("needle-in-haystack")) {
			t.Fatalf("left in %q", whole)
		}
		streamed, err := io.ReadAll(r.Reader(strings.NewReader(text)))
		if err != nil || !bytes.Equal(streamed, whole) {
			t.Fatalf("stream %q, whole %q, %v", streamed, whole, err)
		}
	})
}
