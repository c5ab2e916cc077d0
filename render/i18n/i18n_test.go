package i18n

import (
	"reflect"
	"strings"
	"testing"
	"unicode"

	"pairbench/analyze/report"
	"pairbench/records"
	"pairbench/render/numfmt"
)

func catalogues(t *testing.T) map[string]*Words {
	t.Helper()
	all := map[string]*Words{}
	for _, tag := range Languages() {
		w, ok := For(tag)
		if !ok || w.Tag != tag {
			t.Fatalf("language %s has no catalogue", tag)
		}
		all[tag] = w
	}
	return all
}

// Every word is there in every language, and every sentence uses each of its
// arguments. Space is the one word that may be empty.
func TestEveryWordIsThere(t *testing.T) {
	for tag, w := range catalogues(t) {
		var walk func(path string, v reflect.Value)
		walk = func(path string, v reflect.Value) {
			switch v.Kind() {
			case reflect.Struct:
				for i := range v.NumField() {
					walk(path+"."+v.Type().Field(i).Name, v.Field(i))
				}
			case reflect.String:
				if v.String() == "" && path != "zh-CN.Space" {
					t.Errorf("%s is empty", path)
				}
			case reflect.Func:
				if v.IsNil() {
					t.Errorf("%s is missing", path)
					return
				}
				usesItsArguments(t, path, v)
			default:
				t.Errorf("%s has kind %s, which this test does not know", path, v.Kind())
			}
		}
		walk(tag, reflect.ValueOf(*w))
	}
}

func usesItsArguments(t *testing.T, path string, f reflect.Value) {
	t.Helper()
	var args []reflect.Value
	var marks []string
	for i := range f.Type().NumIn() {
		mark := string(rune('A'+i)) + "mark"
		switch in := f.Type().In(i); in.Kind() {
		case reflect.String:
			args = append(args, reflect.ValueOf(mark).Convert(in))
		case reflect.Int:
			n := 700 + i
			mark = numfmt.Count(int64(n))
			args = append(args, reflect.ValueOf(n))
		default:
			t.Errorf("%s takes a %s, which this test does not know", path, in)
			return
		}
		marks = append(marks, mark)
	}
	text := f.Call(args)[0].String()
	for _, mark := range marks {
		if !strings.Contains(text, mark) {
			t.Errorf("%s leaves out an argument: %q has no %q", path, text, mark)
		}
	}
	if strings.Contains(text, "%!") {
		t.Errorf("%s: %q", path, text)
	}
}

// A figure in one language is a figure in the other: no catalogue smuggles in
// digits that the other does not have.
func TestFixedWordsCarryTheSameDigits(t *testing.T) {
	all := catalogues(t)
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, s)
	}
	var walk func(path string, a, b reflect.Value)
	walk = func(path string, a, b reflect.Value) {
		switch a.Kind() {
		case reflect.Struct:
			for i := range a.NumField() {
				walk(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
			}
		case reflect.String:
			if digits(a.String()) != digits(b.String()) {
				t.Errorf("%s: %q and %q hold other digits", path, a, b)
			}
		}
	}
	walk("words", reflect.ValueOf(*all[English]), reflect.ValueOf(*all[SimplifiedChinese]))
}

// Codes of the report that have no words would be shown raw.
func TestCodesHaveWords(t *testing.T) {
	for tag, w := range catalogues(t) {
		for _, o := range records.Outcomes {
			if word := w.Names.Outcome(string(o)); word == "" || strings.Contains(word, "_") {
				t.Errorf("%s: outcome %s has no words", tag, o)
			}
		}
		for _, id := range []string{"throughput", "cpu", "latency_p50", "latency_p90", "latency_p99", "latency_p999", "latency_max", "peak_rss", "cpu_efficiency"} {
			if w.Names.Metric(id) == id {
				t.Errorf("%s: metric %s has no words", tag, id)
			}
		}
		for _, code := range NoteCodes() {
			text := w.Note(report.Note{Code: code, Metric: "latency_p99", Values: []string{"v1", "v2", "v3"}})
			if text == "" || strings.HasPrefix(text, code) {
				t.Errorf("%s: note %s has no words: %q", tag, code, text)
			}
			if bare := w.Note(report.Note{Code: code}); bare == "" {
				t.Errorf("%s: note %s without values has no words", tag, code)
			}
		}
		if text := w.Note(report.Note{Code: "from_the_future", Values: []string{"x"}}); !strings.Contains(text, "from_the_future") || !strings.Contains(text, "x") {
			t.Errorf("%s: an unknown note is hidden: %q", tag, text)
		}
	}
}

func TestPublishedWords(t *testing.T) {
	en, _ := For(English)
	zh, _ := For(SimplifiedChinese)
	for _, c := range []struct{ got, want string }{
		{en.ChangeRange("−1.37%", "+12.80%"), "−1.37% to +12.80%"},
		{zh.ChangeRange("−1.37%", "+12.80%"), "−1.37%～+12.80%"},
		{zh.Columns.ConnectionsOutstanding, "连接／在途"},
		{zh.Names.Metric("latency_p99"), "P99 响应时间"},
		{zh.Names.Metric("peak_rss"), "进程峰值 RSS"},
		{en.Number(3), "three"}, {zh.Number(3), "三"}, {en.Number(5), "five"}, {zh.Number(5), "五"},
		{zh.Sentences.Question("回调", "协程"), "用协程代替回调，会改变什么？"},
		{zh.Sentences.Question("baseline", "候选"), "用候选代替 baseline，会改变什么？"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if _, ok := For("fr"); ok {
		t.Error("a language without a catalogue was found")
	}
}
