package driver

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestParseMessage(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"type":"hello","hello":{"protocol":1,"driver":"d"}}`, ""},
		{`{"type":"ready"}`, ""},
		{`{"type":"ready","later":"key"}`, ""},
		{`{"type":"end","end":{"samples":1}}`, ""},
		{`{"type":"error","error":"no route"}`, ""},
		{`{"type":"hello"}`, "hello without its object"},
		{`{"type":"hello","hello":{"protocol":2,"driver":"d"}}`, "protocol 2, expected 1"},
		{`{"type":"end"}`, "end without its object"},
		{`{"type":"error"}`, "error without its text"},
		{`{"type":"go"}`, `unknown message type "go"`},
		{`{}`, `unknown message type ""`},
		{``, "unexpected end"},
		{`ready`, "invalid character"},
		{`{"type":"ready"} {"type":"done"}`, "invalid character"},
		{`{"type":"end","end":{"samples":1.5}}`, "cannot unmarshal"},
		{`{"type":"end","end":{"samples":1e30}}`, "cannot unmarshal"},
		{strings.Repeat(" ", MaxMessageBytes) + `{"type":"ready"}`, ErrTooLong.Error()},
	} {
		_, err := ParseMessage([]byte(c.line))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.80s: got %v, want %q", c.line, err, c.want)
		}
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", MaxMessageBytes-1)
	for _, c := range []struct {
		name, input string
		lines       []string
		err         error
	}{
		{"empty", "", nil, io.EOF},
		{"two lines", "a\nbc\n", []string{"a", "bc"}, io.EOF},
		{"empty line", "\n", []string{""}, io.EOF},
		{"cut line", "a\nb", []string{"a"}, io.ErrUnexpectedEOF},
		{"longest line", long + "\nb\n", []string{long, "b"}, io.EOF},
		{"one byte too long", long + "y\n", nil, ErrTooLong},
		{"no newline for ever", long + long, nil, ErrTooLong},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.input), iotest.HalfReader(strings.NewReader(c.input)), iotest.DataErrReader(strings.NewReader(c.input))} {
			l := lineReader{r: r}
			var got []string
			line, err := l.next()
			for ; err == nil; line, err = l.next() {
				got = append(got, string(line))
			}
			if !errors.Is(err, c.err) || !cmp.Equal(got, c.lines) {
				t.Errorf("%s: got %d lines and %v, want %d lines and %v", c.name, len(got), err, len(c.lines), c.err)
			}
		}
	}
}

func TestJobRoundTrip(t *testing.T) {
	job := Job{
		Protocol: ProtocolVersion, ProcessNo: 3, ProcessID: "p", Suite: "redis_tcp", Arm: "callback", Side: "A", Round: 1,
		Workload: "redis_echo", Factors: map[string]any{"payload_bytes": 64, "cadence": "continuous"},
		Settings: map[string]any{"rate_per_sec": 2.5}, Measure: Amount{Operations: 10}, Seed: 7,
	}
	path := filepath.Join(t.TempDir(), "job.json")
	if err := WriteJob(path, job); err != nil {
		t.Fatal(err)
	}
	got, err := ReadJob(path)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := got.Int("payload_bytes", 0); n != 64 || err != nil {
		t.Errorf("payload_bytes: %d, %v", n, err)
	}
	if s, err := got.Text("cadence", "continuous", "1ms"); s != "continuous" || err != nil {
		t.Errorf("cadence: %q, %v", s, err)
	}
	if f, err := got.Float("rate_per_sec", 0); f != 2.5 || err != nil {
		t.Errorf("rate_per_sec: %v, %v", f, err)
	}
	if _, err := got.Int("rate_per_sec", 0); err == nil {
		t.Error("2.5 was read as a whole number")
	}
	if _, err := got.Text("cadence", "1ms"); err == nil {
		t.Error("a cadence that is not allowed was accepted")
	}
	if n, err := got.IntRange("connections", 1, 1, 4); n != 1 || err != nil {
		t.Errorf("default connections: %d, %v", n, err)
	}
	if err := WriteJob(path, job); err == nil {
		t.Error("an existing job file was overwritten")
	}
}

func TestParseJobRefuses(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`{`, "unexpected EOF"},
		{`{"protocol":1,"measure":{"operations":1}} x`, "text after"},
		{`{"protocol":2,"measure":{"operations":1}}`, "protocol is 2, expected 1"},
		{`{"protocol":1}`, "measure is empty"},
		{`{"protocol":1,"measure":{"operations":1,"duration_ns":1}}`, "expected one of them"},
		{`{"protocol":1,"measure":{"operations":-1}}`, "negative"},
		{`{"protocol":1,"operations_per_sample":16,"measure":{"operations":17}}`, "multiple of 16"},
		{`{"protocol":1,"operations_per_sample":-1,"measure":{"operations":17}}`, "operations_per_sample is -1"},
		{strings.Repeat(" ", MaxJobBytes+1), "at most"},
	} {
		if _, err := ParseJob([]byte(c.source)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: got %v, want %q", c.source, err, c.want)
		}
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add([]byte(`{"type":"hello","hello":{"protocol":1,"driver":"d","versions":{"go":"1.26"}}}`))
	f.Add([]byte(`{"type":"end","end":{"measured_operations":1,"p50_ns":4}}`))
	f.Add([]byte(`{"type":"error","error":"x"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := ParseMessage(line)
		if err != nil {
			return
		}
		encoded, err := encodeLine(m)
		if errors.Is(err, ErrTooLong) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseMessage(bytes.TrimSuffix(encoded, []byte("\n")))
		if err != nil {
			t.Fatalf("%s was accepted, its encoding %s is not: %v", line, encoded, err)
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Fatalf("a second reading differs:\n%s", diff)
		}
	})
}

func FuzzParseJob(f *testing.F) {
	f.Add([]byte(`{"protocol":1,"measure":{"operations":1},"factors":{"payload_bytes":64}}`))
	f.Fuzz(func(t *testing.T, source []byte) {
		job, err := ParseJob(source)
		if err != nil {
			return
		}
		if err := job.Validate(); err != nil {
			t.Fatalf("an accepted job is not valid: %v", err)
		}
		_, _ = job.Int("payload_bytes", 1)
		_, _ = job.Text("cadence", "continuous")
	})
}
