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

// Nouns and verbs agree with their numbers, in words and in digits.
func TestNumbersAgree(t *testing.T) {
	en, _ := For(English)
	zh, _ := For(SimplifiedChinese)
	note := func(w *Words, code string, values ...string) string {
		return w.Note(report.Note{Code: code, Metric: "latency_p99", Values: values})
	}
	for _, c := range []struct{ got, want string }{
		{en.Sentences.Overview(1, 1, 2, en.Number(1)), "1 suite, 1 cell, 2 processes: in every cell each arm ran once, each time as a fresh process."},
		{en.Sentences.Overview(2, 9, 36, en.Number(2)), "2 suites, 9 cells, 36 processes: in every cell each arm ran twice, each time as a fresh process."},
		{en.Sentences.OverviewImported(1, 3, 14, en.NumberRange(en.Number(0), en.Number(4))), "1 suite, 3 cells, 14 processes, taken from files: zero to four for each arm of a cell. How they were run is up to their source."},
		{zh.Sentences.OverviewImported(1, 3, 14, zh.NumberRange(zh.Number(0), zh.Number(13))), "共 1 个套件、3 个单元、14 个进程，取自文件：每个单元每组零至 13 个进程。运行方式取决于来源。"},
		{en.Sentences.Chance(1, 3, "0.3"), "1 of 3 cells has disjoint ranges; two identical arms would give about 0.3 by chance alone."},
		{en.Sentences.Chance(0, 1, "0.1"), "0 of 1 cell have disjoint ranges; two identical arms would give about 0.1 by chance alone."},
		{en.Sentences.Alternation("AB", en.Number(1)), "The two arms of a cell ran on one host, one round, in this order: AB."},
		{en.Sentences.RangeMeaning(en.Number(1)), "Each arm has one process, so there is no range to show."},
		{zh.Sentences.RangeMeaning(zh.Number(1)), "每组只有一个进程，因此没有范围。"},
		{en.Sentences.CellsHave(en.Number(1)), "One process per arm, unless n is given."},
		{en.Sentences.CellsHave(en.Number(3)), "Median [minimum–maximum] of three processes per arm, unless n is given."},
		{zh.Sentences.CellsHave(zh.Number(1)), "每组一个进程，另注 n 者除外。"},
		{en.Sentences.Totals("1", "1", "0", "1"), "1 process: 1 measured operation, 0 warm-up operations, 1 raw sample."},
		{en.Sentences.Intervals("1", "2", "1", "4"), "The measured intervals last 1 s to 2 s; 1 of 4 is under one second."},
		{en.Sentences.Intervals("0.383", "3.046", "80", "336"), "The measured intervals last 0.383 s to 3.046 s; 80 of 336 are under one second."},
		{en.Sentences.NotComputable(1), "1 cell cannot be compared and is left out."},
		{en.Sentences.FailedExcluded(1), "1 process failed. No median contains it; it is listed below with what went wrong."},
		{en.Sentences.Floor("−1% to +1%", 1, 1, 2), "Identical arms differed by −1% to +1%, either way round, over 1 cell; 1 of 2 changes here lies inside that range."},
		{en.Sentences.LockIncomplete(1), "The hash lock is incomplete: 1 gap."},
		{en.Sentences.NeedN(1), "needs at least 1 process per arm"},
		{en.Sentences.NeedN(6), "needs at least 6 processes per arm"},
		{note(en, report.NoteShortIntervals, "1", "1"), "1 of 1 measured interval is shorter than one second; single disturbances weigh more there."},
		{note(en, report.NoteShortIntervals, "80", "336"), "80 of 336 measured intervals are shorter than one second; single disturbances weigh more there."},
		{note(en, report.NoteFewTailSamples, "0", "14"), "P99 latency says little: there are processes with so few samples that none lies beyond it (processes with few: 14)."},
		{note(zh, report.NoteFewTailSamples, "0", "14"), "P99 响应时间说明不了多少：有的进程样本太少，没有一个超过该值（样本少的进程：14）。"},
		{note(en, report.NoteFewTailSamples, "50", "6"), "P99 latency rests on few samples: as few as 50 beyond it (processes: 6)."},
		{note(en, report.NoteOrderBalance, "1", "1"), "A ran first in 1 of 1 pair."},
		{note(en, report.NoteMissedTicks, "1", "1"), "1 tick of the cadence was missed (processes: 1)."},
		{note(en, report.NoteFewerCores, "3", "1"), "The workload has 3 busy threads, the host 1 logical processor."},
	} {
		if c.got != c.want {
			t.Errorf("got  %q\nwant %q", c.got, c.want)
		}
	}
}

// Figures in doubts carry the signs that the tables write.
func TestNotesWriteSignsAsTablesDo(t *testing.T) {
	for _, tag := range Languages() {
		w, _ := For(tag)
		for value, want := range map[string]string{"-6.00": "−6.00%", "5.93": "+5.93%", "0.00": "+0.00%"} {
			if got := w.Note(report.Note{Code: report.NoteSamePosition, Metric: "cpu", Values: []string{value}}); !strings.Contains(got, want) {
				t.Errorf("%s: %s is written %q", tag, value, got)
			}
		}
		if got := w.Note(report.Note{Code: report.NoteDrift, Metric: "cpu", Values: []string{"-0.33", "0.2", "24"}}); !strings.Contains(got, "−0.33") {
			t.Errorf("%s: %q", tag, got)
		}
	}
}
