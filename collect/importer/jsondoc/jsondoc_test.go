package jsondoc

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func parse(t *testing.T, text string) Value {
	t.Helper()
	v, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestValues(t *testing.T) {
	v := parse(t, "warning\n {\"a\": [1, -2.5e-3, true, null, NaN, -inf, \"x\"], \"b\": {\"c\": {}}, \"a\": 2}\n")
	var kinds []string
	for item := range v.Get("a").Items() {
		kinds = append(kinds, item.Kind().String()+"="+item.Literal())
	}
	want := `a number=1, a number=-2.5e-3, true or false=true, null=null, NaN or Infinity=NaN, NaN or Infinity=-inf, a text="x"`
	if got := strings.Join(kinds, ", "); got != want {
		t.Errorf("items are %s, want %s", got, want)
	}
	if got := v.Get("b").Get("c").Kind(); got != Object {
		t.Errorf("b.c is %v, want an object", got)
	}
	if got := v.Get("b").Get("none").Get("deeper").Kind(); got != Nothing {
		t.Errorf("a member that is not there is %v, want nothing", got)
	}
	n := 0
	for range v.Members() {
		n++
	}
	if n != 3 {
		t.Errorf("%d members, want 3", n)
	}
}

func TestTexts(t *testing.T) {
	for literal, want := range map[string]string{
		`"plain"`:              "plain",
		`"\"\\\/\b\f\n\r\t"`:   "\"\\/\b\f\n\r\t",
		`"\u00e9\uD83D\uDE00"`: "é😀",
		`"\ud83d"`:             "\ufffd",
		`"C:\bench\x"`:         "C:\bench\\x",
		`"\u12"`:               "\\u12",
		`"say "hi", he said"`:  "",
		`"a "quoted" word"`:    `a "quoted" word`,
		`"quote "] more"`:      "",
		`"ünïcödé"`:            "ünïcödé",
	} {
		v, err := Parse([]byte(`{"k": ` + literal + `}`))
		switch {
		case want == "" && err == nil:
			t.Errorf("%s was read as %q, want an error: its end is ambiguous", literal, v.Get("k").Text())
		case want != "" && err != nil:
			t.Errorf("%s: %v", literal, err)
		case want != "" && v.Get("k").Text() != want:
			t.Errorf("%s is %q, want %q", literal, v.Get("k").Text(), want)
		}
	}
}

func TestNoJSON(t *testing.T) {
	for text, want := range map[string]string{
		``:                             "found no line that begins with '{', expected a JSON object",
		"text\n[1]":                    "found no line that begins with '{', expected a JSON object",
		`{`:                            `found the end of the file, expected '}'`,
		`{"a"`:                         `found the end of the file, expected ':'`,
		`{"a":`:                        `found the end of the file, expected a value`,
		`{"a":1`:                       `found the end of the file, expected ',' or '}'`,
		`{"a":1,}`:                     `found '}', expected a name in quotes`,
		`{"a":[1,]}`:                   `found "", expected a value`,
		`{"a":"b`:                      `found the end of the file inside a text, expected its closing quote`,
		"{\"a\":\"b\nc\"}":             `found the end of the line inside a text, expected its closing quote`,
		`{"a":01x}`:                    `found "01x", expected a value`,
		`{"a":1.}`:                     `found "1.", expected a value`,
		`{"a":+1}`:                     `found "+1", expected a value`,
		`{"a":1}{"b":2}`:               `found text after the end of the JSON, expected nothing`,
		strings.Repeat(`{"a":[`, 1000): `found more than 200 levels of nesting, expected fewer`,
		`{"a":` + strings.Repeat("[", 9) + "1" + strings.Repeat("]", 8): `found the end of the file, expected ',' or ']'`,
	} {
		_, err := Parse([]byte(text))
		var bad *Error
		if !errors.As(err, &bad) || bad.Problem != want || bad.Offset > len(text) {
			t.Errorf("%.40q: error %v, want %s", text, err, want)
		}
	}
}

// FuzzLikeTheStandardLibrary: an object that encoding/json takes is read the
// same way here.
func FuzzLikeTheStandardLibrary(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,2.5e3,"x\u00e9",null,true],"b":{"c":[]}}`, `{"a":"b" , "c":[{"d":-0}]}`, "x\n{\"a\":NaN}", `{"a":"b"c"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse([]byte(text))
		var want map[string]json.RawMessage
		if !utf8.ValidString(text) || json.Unmarshal([]byte(text), &want) != nil || !strings.HasPrefix(strings.TrimSpace(text), "{") || strings.Contains(text, "\ufeff") {
			return
		}
		if err != nil {
			if strings.Contains(err.Error(), "levels of nesting") {
				return
			}
			t.Fatalf("%q: %v, encoding/json takes it", text, err)
		}
		seen := map[string]string{}
		for name, member := range v.Members() {
			var key string
			if err := json.Unmarshal([]byte(name.Literal()), &key); err != nil || key != name.Text() {
				t.Fatalf("name %s is %q, want %q", name.Literal(), name.Text(), key)
			}
			if _, twice := seen[key]; twice {
				return // which of several counts is a choice
			}
			seen[key] = member.Literal()
		}
		for key, literal := range seen {
			if string(want[key]) != literal {
				t.Fatalf("%q is %s, want %s", key, literal, want[key])
			}
		}
		if len(seen) != len(want) {
			t.Fatalf("%d members, want %d", len(seen), len(want))
		}
	})
}
