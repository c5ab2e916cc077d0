package numfmt

import (
	"encoding/csv"
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"
)

func read[T any](t *testing.T, path string) T {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVectorsOfFloats(t *testing.T) {
	type vectors struct {
		Cases []struct {
			Style, Expect string
			Value         float64
		}
	}
	in := func(unit Unit, s Style) Style {
		if s.Unit != unit {
			t.Fatalf("checker is broken: style shows %q, expected %q", s.Unit, unit)
		}
		s.divisor = 0 // the vectors are already in the shown unit
		return s
	}
	styles := map[string]Style{
		"throughput_1dp_grouped":     in(UnitOps, Database.Metric("throughput", "per_sec")),
		"cpu_2dp":                    in(UnitPercent, Database.Metric("cpu", "pct")),
		"latency_ms_3dp":             in(UnitMs, Database.Metric("latency_p99", "ns")),
		"rss_mib_3dp":                in(UnitMiB, Database.Metric("peak_rss", "bytes")),
		"native_max2dp_trim_grouped": in(UnitUs, Native.Metric("latency_p99", "ns")),
		"change_signed_2dp_u2212":    Database.Change(),
	}
	for _, c := range read[vectors](t, "testdata/number_format.json").Cases {
		s, ok := styles[c.Style]
		if !ok {
			t.Errorf("no style for vectors %q", c.Style)
			continue
		}
		if got := s.Format(new(big.Rat).SetFloat64(c.Value)); got != c.Expect {
			t.Errorf("%s of %v: got %s, want %s", c.Style, c.Value, got, c.Expect)
		}
	}
}

func TestVectorsOfExactValues(t *testing.T) {
	type vectors struct {
		Cases []struct {
			Kind, Expect string
			Int, A, B    int64
		}
	}
	for _, c := range read[vectors](t, "testdata/number_format_exact.json").Cases {
		var got string
		switch c.Kind {
		case "ns_to_ms_3dp":
			got = Database.Metric("latency_p50", "ns").FormatInt(c.Int)
		case "ns_to_us_max2dp_trim":
			got = Native.Metric("latency_p50", "ns").FormatInt(c.Int)
		case "bytes_to_mib_3dp":
			got = Database.Metric("peak_rss", "bytes").FormatInt(c.Int)
		case "change_exact_rational":
			r := big.NewRat(c.B, c.A)
			r.Mul(r.Sub(r, big.NewRat(1, 1)), big.NewRat(100, 1))
			got = Database.Change().Format(r)
		default:
			t.Errorf("no style for vectors %q", c.Kind)
			continue
		}
		if got != c.Expect {
			t.Errorf("%s of %d %d %d: got %s, want %s", c.Kind, c.Int, c.A, c.B, got, c.Expect)
		}
	}
}

// The published texts are read and written again: scale, decimals, grouping and
// signs of a profile must give back what was printed, character by character.
func TestPublishedTextsSurviveARoundTrip(t *testing.T) {
	units := map[string]string{"throughput": "per_sec", "cpu": "pct", "p50": "ns", "p99": "ns", "peak_rss": "bytes", "rss": "bytes"}
	for _, c := range []struct {
		file    string
		profile Profile
	}{{"published_database.csv", Database}, {"published_release.csv", Release}} {
		f, err := os.Open("../testdata/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		if closed := f.Close(); err != nil || closed != nil {
			t.Fatal(err, closed)
		}
		column := map[string]int{}
		for i, name := range rows[0] {
			column[name] = i
		}
		texts := 0
		for _, row := range rows[1:] {
			unit, ok := units[row[column["metric"]]]
			if !ok {
				t.Fatalf("%s: metric %q has no unit here", c.file, row[column["metric"]])
			}
			check := func(s Style, text string) {
				if text == "" {
					return
				}
				texts++
				r, err := s.Parse(text)
				if err != nil {
					t.Errorf("%s: %v", c.file, err)
					return
				}
				// −0.00% parses to zero; its sign is that of what was rounded.
				if got := s.Format(r); got != text && strings.Trim(text, Minus+"+0.%") != "" {
					t.Errorf("%s: %s was written again as %s", c.file, text, got)
				}
			}
			for _, name := range []string{"median_raw", "min_raw", "max_raw"} {
				check(c.profile.Metric(row[column["metric"]], unit), row[column[name]])
			}
			check(c.profile.Change(), row[column["change_published"]])
			if i, ok := column["cpu_efficiency_change_published"]; ok {
				check(c.profile.Change(), row[i])
			}
		}
		if texts < len(rows) {
			t.Errorf("%s: only %d texts in %d rows were checked", c.file, texts, len(rows))
		}
	}
}

func TestStyles(t *testing.T) {
	rat := func(s string) *big.Rat {
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("checker is broken: %q", s)
		}
		return r
	}
	for _, c := range []struct {
		style Style
		value string
		want  string
	}{
		{Database.Change(), "0", "+0.00%"},
		{Database.Change(), "-1/1000", "−0.00%"},
		{Database.Change(), "1/1000", "+0.00%"},
		{Database.Change(), "-1.365", "−1.37%"},
		{Native.Change(), "-0.8", "-0.8%"},
		{Native.Change(), "3", "3%"},
		{Native.Change(), "-0.001", "-0%"},
		{Native.Change(), "12.345", "12.35%"},
		{Native.Metric("cpu", "pct"), "99.9", "99.9"},
		{Native.Metric("cpu", "pct"), "100", "100"},
		{Native.Metric("throughput", "per_sec"), "251000.125", "251,000.13"},
		{Native.Metric("throughput", "per_sec"), "1000", "1,000"},
		{Native.Metric("latency_p99", "ns"), "4424000", "4,424"},
		{Native.Metric("peak_rss", "bytes"), "4194304", "4"},
		{Release.Metric("throughput", "per_sec"), "1234567", "1234.57"},
		{Release.Metric("latency_p99", "ns"), "2254420", "2254.42"},
		{Seconds(), "383499999", "0.383"},
		{Seconds(), "3046000000", "3.046"},
	} {
		if got := c.style.Format(rat(c.value)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.value, got, c.want)
		}
	}
	if got := Database.Metric("throughput", "per_sec").Cell(rat("11246.7"), rat("11135.8"), rat("11282.4")); got != "11,246.7 [11,135.8–11,282.4]" {
		t.Errorf("cell: got %s", got)
	}
	if got := Release.Metric("cpu", "pct").Cell(rat("96.57"), rat("1"), rat("2")); got != "96.57" {
		t.Errorf("cell without range: got %s", got)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(5044224), "5,044,224"}, {Count(999), "999"}, {Count(0), "0"}, {Count(-1000), "−1,000"},
		{Share(22, 28), "22/28"},
		{Database.Payload(64), "64 B"}, {Database.Payload(4096), "4 KiB"}, {Database.Payload(1000), "1000 B"},
		{Release.Payload(1 << 21), "2 MiB"}, {Native.Payload(1024), "1024 B"}, {Database.Payload(0), "0 B"},
		{Nanoseconds(1e9), "1 s"}, {Nanoseconds(25e7), "250 ms"}, {Nanoseconds(1500), "1.5 µs"}, {Nanoseconds(17), "17 ns"}, {Nanoseconds(0), "0 ns"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	for text, want := range map[string]string{"1ms": "1 ms", "0.5s": "0.5 s", "10us": "10 µs"} {
		if got, ok := Duration(text); got != want || !ok {
			t.Errorf("duration %q: got %q %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "ms", "1", "1.ms", ".5s", "1..2s", "1msec", "continuous", "１ms"} {
		if got, ok := Duration(text); got != text || ok {
			t.Errorf("duration %q: got %q %v", text, got, ok)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "+", "%", "1,23", "1,2345", ",123", "1.", ".5", "1e9", "0x1", "1/2", "--1", "1 000", "NaN", "∞", "1.2.3", "1.2,3"} {
		if got, err := Database.Change().Parse(text); err == nil {
			t.Errorf("%q was read as %s", text, got)
		}
	}
	for _, text := range []string{"1 [2]", "1 [2–3", "1 [–3]", "[1–2]"} {
		if _, _, _, err := Database.Metric("cpu", "pct").ParseCell(text); err == nil {
			t.Errorf("cell %q was read", text)
		}
	}
}

// Format then Parse moves a value by at most half of the last decimal kept, and
// writing the parsed value again gives the same text.
func FuzzFormatParse(f *testing.F) {
	f.Add(int64(10000*1e9), int64(889149706))
	f.Add(int64(-1), int64(1000))
	f.Add(int64(5865472), int64(1))
	f.Add(int64(88500), int64(1))
	f.Fuzz(func(t *testing.T, num, den int64) {
		if den == 0 {
			return
		}
		value := big.NewRat(num, den)
		for _, p := range []Profile{Database, Native, Release} {
			for _, s := range []Style{p.Metric("throughput", "per_sec"), p.Metric("cpu", "pct"), p.Metric("latency_p50", "ns"), p.Metric("peak_rss", "bytes"), p.Change()} {
				text := s.Format(value)
				back, err := s.Parse(text)
				if err != nil {
					t.Fatalf("%s: %v", value, err)
				}
				half := new(big.Rat).SetInt64(max(s.divisor, 1))
				half.Quo(half, big.NewRat(2, 1))
				for range s.decimals {
					half.Quo(half, big.NewRat(10, 1))
				}
				if off := new(big.Rat).Sub(back, value); off.Abs(off).Cmp(half) > 0 {
					t.Fatalf("%s was written as %s: off by %s", value, text, off)
				}
				if again := s.Format(back); again != text && back.Sign() != 0 {
					t.Fatalf("%s was written as %s and then as %s", value, text, again)
				}
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"11,246.7", "−1.37%", "+0.00%", "1,2", "-"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Database.Metric("throughput", "per_sec")
		if r, err := s.Parse(text); err == nil && r == nil {
			t.Fatal("no value and no error")
		}
		if _, _, _, err := s.ParseCell(text); err != nil && err.Error() == "" {
			t.Fatal("an error without a text")
		}
	})
}
