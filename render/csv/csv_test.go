package csv

import (
	stdcsv "encoding/csv"
	"math/big"
	"strings"
	"testing"

	"pairbench/analyze/report/reporttest"
)

func TestGuard(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "redis_tcp": "redis_tcp", "64 B": "64 B", "中文": "中文", "a=1": "a=1",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r": "'\r", "\n": "'\n", " =1": "' =1", "\u200b=1": "'\u200b=1", "\"=1": "'\"=1",
		"＝1": "'＝1", "'quoted": "''quoted", "|calc": "'|calc", "%0A": "'%0A",
	} {
		if got := Guard(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if back := Unguard(Guard(text)); back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	}
}

func FuzzRowsComeBack(f *testing.F) {
	for _, text := range []string{"a", "=a,b", "a\r\nb", "\"", " a ", "\xff", "'"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var out table
		out.row(value("x"), foreign(a), foreign(b))
		if !strings.HasSuffix(out.b.String(), "\r\n") {
			t.Fatalf("the line ends in %q", out.b.String())
		}
		rows, err := stdcsv.NewReader(strings.NewReader(out.b.String())).ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != 3 {
			t.Fatalf("%q and %q: %v %v", a, b, rows, err)
		}
		for i, text := range []string{a, b} {
			// The reader turns \r\n into \n, as any reader of text may.
			want := strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
			if got := Unguard(rows[0][i+1]); got != want && "'"+got != want {
				if Guard(strings.ToValidUTF8(text, "\uFFFD")) == strings.ToValidUTF8(text, "\uFFFD") && got == want {
					continue
				}
				t.Fatalf("%q came back as %q", want, got)
			}
		}
	})
}

// The unrounded columns give the medians back exactly as float64, and the text
// column is what the report shows.
func TestMetricFileHoldsUnroundedValues(t *testing.T) {
	r := reporttest.Database()
	for _, f := range Files(r) {
		if f.Path != "csv/redis_tcp_throughput.csv" {
			continue
		}
		rows, err := stdcsv.NewReader(strings.NewReader(string(f.Content))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := map[string]int{}
		for i, name := range rows[0] {
			column[name] = i
		}
		for i, c := range r.Suites[0].Cells {
			row := rows[i+1]
			want, _ := c.Comparisons[0].A.Median.Rat().Float64()
			got, ok := new(big.Rat).SetString(row[column["a_median"]])
			if !ok {
				t.Fatalf("a_median is %q", row[column["a_median"]])
			}
			if v, _ := got.Float64(); v != want || row[column["cell_id"]] != c.ID || row[column["payload_bytes"]] != c.Factors[0].Value {
				t.Errorf("row %d: %q, expected %v of %s", i, row, want, c.ID)
			}
		}
		if text := rows[1][column["a_text"]]; text != "11,246.7 [11,135.8–11,282.4]" {
			t.Errorf("a_text is %q", text)
		}
		return
	}
	t.Fatal("csv/redis_tcp_throughput.csv is not written")
}
