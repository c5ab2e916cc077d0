package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"pairbench/analyze/report"
	"pairbench/analyze/report/reporttest"
)

func reports() map[string]*report.Report {
	return map[string]*report.Report{
		"database": reporttest.Database(),
		"compact":  reporttest.Compact(),
		"release":  reporttest.Release(),
	}
}

func encode(t *testing.T, r *report.Report) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := report.Encode(&buf, r); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestEncodeDecodeEncodeGivesTheSameBytes(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			first := encode(t, r)
			decoded, err := report.Decode(bytes.NewReader(first))
			if err != nil {
				t.Fatal(err)
			}
			if second := encode(t, decoded); !bytes.Equal(first, second) {
				t.Error("a decoded report encodes to other bytes")
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	valid := string(encode(t, reporttest.Database()))
	damage := func(old, new string) string {
		t.Helper()
		if !strings.Contains(valid, old) {
			t.Fatalf("checker is broken: the fixture has no %q", old)
		}
		return strings.Replace(valid, old, new, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "EOF"},
		{"an array", "[]", "cannot unmarshal"},
		{"cut in the middle", valid[:len(valid)/2], "unexpected EOF"},
		{"text after the end", valid + "{}", "text after the end"},
		{"a version from the future", damage(`"schema_version": 1`, `"schema_version": 2`), "schema_version is 2"},
		{"no version", damage(`"schema_version": 1`, `"schema_version": 0`), "schema_version is 0"},
		{"an exponent for an exact value", damage(`"exact": "`, `"exact": "1e999999999`), "expected an integer or a fraction"},
		{"a zero denominator", damage(`"exact": "`, `"exact": "1/0","x": "`), "expected an integer or a fraction"},
		{"arms the wrong way round", damage(`"side": "A"`, `"side": "B"`), `side is "B", expected "A"`},
		{"a metric less than comparisons", damage(`"id": "throughput"`, `"id": "other"`), `is of "throughput", expected "other"`},
		{"a bundle that is not there", damage(`"bundle": 0,`+"\n       ", `"bundle": 7,`+"\n       "), "bundle is 7 of 1"},
		{"n of an arm that has values", damage(`"n": 3`, `"n": 0`), "exactly when n is positive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := report.Decode(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestEncodeRefusesAnInvalidReport(t *testing.T) {
	r := reporttest.Database()
	r.Suites[0].Summaries = nil
	if err := report.Encode(io.Discard, r); err == nil {
		t.Error("a suite without summaries was encoded")
	}
}

func FuzzDecode(f *testing.F) {
	for _, r := range reports() {
		var buf bytes.Buffer
		if err := report.Encode(&buf, r); err != nil {
			f.Fatal(err)
		}
		f.Add(buf.Bytes())
	}
	f.Add([]byte(`{"schema_version":1,"study":{"arms":[{"side":"A"},{"side":"B"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := report.Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		if err := report.Encode(io.Discard, r); err != nil {
			t.Errorf("decoded, but cannot be encoded: %v", err)
		}
	})
}
