package render_test

import (
	"encoding/csv"
	"os"
	"regexp"
	"strings"
	"testing"

	"pairbench/analyze/report"
	"pairbench/render"
	"pairbench/render/numfmt"
	"pairbench/render/rendertest"
)

// rendered returns the text of a file of a rendered report.
func rendered(t *testing.T, r *report.Report) func(path string) string {
	t.Helper()
	files, err := render.Files(render.Options{Report: r})
	if err != nil {
		t.Fatal(err)
	}
	return func(path string) string {
		for _, f := range files {
			if f.Path == path {
				return string(f.Content)
			}
		}
		t.Fatalf("no file %s was rendered", path)
		return ""
	}
}

// rows reads a published table.
func rows(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, fields := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = fields[i]
		}
		out = append(out, row)
	}
	return out
}

// markdownTables returns the body rows of every table under a heading.
func markdownTables(text string) map[string][][]string {
	tables := map[string][][]string{}
	var section, heading string
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			section, heading = strings.TrimPrefix(line, "## "), ""
		case strings.HasPrefix(line, "### "):
			heading = strings.TrimPrefix(line, "### ")
		case strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---"):
			var cells []string
			for _, c := range strings.Split(strings.Trim(line, "|"), " |") {
				cells = append(cells, strings.TrimSpace(c))
			}
			key := section + "/" + heading
			tables[key] = append(tables[key], cells)
		}
	}
	return tables
}

var htmlTags = regexp.MustCompile(`<[^>]*>`)

// htmlTable returns the rows of the table with the id, as text.
func htmlTable(t *testing.T, page, id string) [][]string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<table id="`+id+`">`)
	if !ok {
		t.Fatalf("the page has no table %s", id)
	}
	body, _, _ := strings.Cut(rest, "</tbody>")
	_, body, _ = strings.Cut(body, "<tbody>")
	var out [][]string
	for _, row := range strings.Split(body, "</tr>") {
		var cells []string
		for _, c := range strings.Split(row, "</td>") {
			cells = append(cells, strings.TrimSpace(htmlTags.ReplaceAllString(c, "")))
		}
		if len(cells) > 1 {
			out = append(out, cells[:len(cells)-1])
		}
	}
	return out
}

type language struct {
	tag, yes, no, to string
	suites           map[string]string
	metrics          map[string]string
	cadence          map[string]string
	pair             string
}

func languages() []language {
	return []language{
		{"en", "Yes", "No", " to ", map[string]string{"redis_tcp": "Redis ECHO over TCP", "mysql_tls": "MySQL text SELECT over TLS"},
			map[string]string{"throughput": "Throughput", "cpu": "CPU", "p50": "P50 latency", "p99": "P99 latency", "peak_rss": "Peak RSS"},
			map[string]string{"continuous": "Continuous", "1ms": "1 ms"}, "Connections/outstanding"},
		{"zh-CN", "是", "否", "～", map[string]string{"redis_tcp": "基于 TCP 的 Redis ECHO", "mysql_tls": "基于 TLS 的 MySQL 文本 SELECT"},
			map[string]string{"throughput": "吞吐量", "cpu": "CPU 占用", "p50": "P50 响应时间", "p99": "P99 响应时间", "peak_rss": "进程峰值 RSS"},
			map[string]string{"continuous": "连续", "1ms": "1 ms"}, "连接／在途"},
	}
}

var metricIDs = map[string]string{"throughput": "throughput", "cpu": "cpu", "p50": "latency_p50", "p99": "latency_p99", "rss": "peak_rss", "peak_rss": "peak_rss"}

// Every row of the published database tables comes out character by character,
// in Markdown and HTML and in both languages.
func TestPublishedDatabaseTables(t *testing.T) {
	file := rendered(t, rendertest.Database())
	published := rows(t, "published_database.csv")
	if len(published) != 560 {
		t.Fatalf("checker is broken: %d published rows, expected 560", len(published))
	}
	for _, lang := range languages() {
		markdown := markdownTables(file("report." + lang.tag + ".md"))
		page := file("report." + lang.tag + ".html")
		compared := 0
		for _, p := range published {
			metric := p["metric"]
			if metric == "rss" {
				metric = "peak_rss"
			}
			suite := map[string]string{"redis_tcp": "1", "mysql_tls": "2"}[p["suite"]]
			payload := map[string]string{"64": "64 B", "4096": "4 KiB"}[p["payload_bytes"]]
			want := []string{payload, lang.cadence[p["cadence"]], p["connections"] + "/" + p["outstanding"]}
			arm := map[string]int{"callback": 3, "coroutine": 4}[p["arm"]]
			overlap := map[string]string{"yes": lang.yes, "no": lang.no}[p["overlap_published"]]
			value := p["median_raw"] + " [" + p["min_raw"] + "–" + p["max_raw"] + "]"
			for format, table := range map[string][][]string{
				"markdown": markdown[lang.suites[p["suite"]]+"/"+lang.metrics[metric]],
				"html":     htmlTable(t, page, "t-s"+suite+"-"+metricIDs[metric]),
			} {
				found := false
				for _, row := range table {
					if len(row) != 7 || row[0] != want[0] || row[1] != want[1] || row[2] != want[2] {
						continue
					}
					found = true
					compared++
					if row[arm] != value || row[5] != p["change_published"] || row[6] != overlap {
						t.Errorf("%s %s %s %s %s: got %v, published %s %s %s", lang.tag, format, p["suite"], p["cell_id"], metric, row, value, p["change_published"], overlap)
					}
				}
				if !found {
					t.Errorf("%s %s: no row for %s %s %s", lang.tag, format, p["suite"], p["cell_id"], metric)
				}
			}
		}
		if compared != 2*len(published) {
			t.Errorf("%s: compared %d rows, expected %d", lang.tag, compared, 2*len(published))
		}
		text := file("report." + lang.tag + ".md")
		for _, want := range []string{
			"−1.37%" + lang.to + "+12.80%", "22/28", "−3.01%" + lang.to + "+0.81%", "24/28",
			"5,044,224", "768,000", "0.383", "3.046", "336", lang.pair,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the report does not say %q", lang.tag, want)
			}
		}
	}
	if text := file("report.en.md"); !strings.Contains(text, "80 of 336 are under one second") {
		t.Error("en: the number of intervals under one second is missing")
	}
	if text := file("report.zh-CN.md"); !strings.Contains(text, "336 个中有 80 个短于一秒") {
		t.Error("zh-CN: the number of intervals under one second is missing")
	}
}

// The same for the release study: throughput, CPU and latency joined by an
// arrow, both changes beside them.
func TestPublishedReleaseTables(t *testing.T) {
	file := rendered(t, rendertest.Release())
	published := rows(t, "published_release.csv")
	if len(published) != 64 {
		t.Fatalf("checker is broken: %d published rows, expected 64", len(published))
	}
	type key struct{ cell, metric string }
	value, change := map[key][2]string{}, map[key]string{}
	for _, p := range published {
		text := p["median_raw"]
		if p["min_raw"] != "" {
			text += " [" + p["min_raw"] + "–" + p["max_raw"] + "]"
		}
		k := key{strings.ReplaceAll(strings.ReplaceAll(p["cell_id"], "/", " · "), "_", " "), p["metric"]}
		pair := value[k]
		pair[map[string]int{"baseline": 0, "candidate": 1}[p["arm"]]] = text
		value[k] = pair
		if p["change_published"] != "" {
			change[k] = p["change_published"]
		}
		change[key{k.cell, "efficiency"}] = p["cpu_efficiency_change_published"]
		if p["cpu_efficiency_change_published"] == "" {
			delete(change, key{k.cell, "efficiency"})
		}
	}
	for _, p := range published {
		if p["metric"] == "throughput" {
			cell := strings.ReplaceAll(strings.ReplaceAll(p["cell_id"], "/", " · "), "_", " ")
			change[key{cell, "efficiency"}] = p["cpu_efficiency_change_published"]
		}
	}
	joined := func(k key) string { return value[k][0] + " → " + value[k][1] }
	for _, lang := range []string{"en", "zh-CN"} {
		page := file("report." + lang + ".html")
		markdown := file("report." + lang + ".md")
		throughput, latency := htmlTable(t, page, "t-throughput"), htmlTable(t, page, "t-latency")
		if len(throughput) != 8 || len(latency) != 8 {
			t.Fatalf("%s: %d and %d rows, expected 8 and 8", lang, len(throughput), len(latency))
		}
		for _, row := range throughput {
			cell := row[0]
			want := []string{joined(key{cell, "throughput"}), change[key{cell, "throughput"}], joined(key{cell, "cpu"}), change[key{cell, "efficiency"}]}
			if got := []string{row[1], row[2], row[4], row[5]}; strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("%s %s: got %q, published %q", lang, cell, got, want)
			}
			if !strings.Contains(markdown, "| "+cell+" | "+want[0]+" | "+want[1]+" | ") || !strings.Contains(markdown, " | "+want[2]+" | "+want[3]+" |") {
				t.Errorf("%s markdown: no row %q", lang, want)
			}
			if overlap := map[string]string{"en": "Yes", "zh-CN": "是"}[lang]; row[3] != overlap {
				t.Errorf("%s %s: overlap is %q, all eight overlap", lang, cell, row[3])
			}
		}
		for _, row := range latency {
			cell := row[0]
			want := []string{joined(key{cell, "p50"}), joined(key{cell, "p99"})}
			if row[1] != want[0] || row[3] != want[1] {
				t.Errorf("%s %s: got %q, published %q", lang, cell, row, want)
			}
			if !strings.Contains(markdown, " | "+want[0]+" | ") || !strings.Contains(markdown, " | "+want[1]+" | ") {
				t.Errorf("%s markdown: no row %q", lang, want)
			}
		}
		for _, say := range []string{"−6.51%", "+13.29%", "8/8"} {
			if !strings.Contains(markdown, say) {
				t.Errorf("%s: the report does not say %s", lang, say)
			}
		}
	}
}

// Numbers read back from the English and the Chinese tables are equal, and
// equal to the medians of the report within what was rounded.
func TestTablesParseBack(t *testing.T) {
	r := rendertest.Database()
	file := rendered(t, r)
	en, zh := file("report.en.html"), file("report.zh-CN.html")
	cells := 0
	for si := range r.Suites {
		s := &r.Suites[si]
		for _, m := range s.Metrics {
			id := "t-s" + string(rune('1'+si)) + "-" + m.ID
			style := numfmt.Profile(s.Profile).Metric(m.ID, m.Unit)
			a, b := htmlTable(t, en, id), htmlTable(t, zh, id)
			if len(a) != len(s.Cells) || len(b) != len(s.Cells) {
				t.Fatalf("%s: %d and %d rows for %d cells", id, len(a), len(b), len(s.Cells))
			}
			for row := range a {
				for _, column := range []int{3, 4} {
					medianA, minA, maxA, errA := style.ParseCell(a[row][column])
					medianB, minB, maxB, errB := style.ParseCell(b[row][column])
					if errA != nil || errB != nil {
						t.Fatal(errA, errB)
					}
					if medianA.Cmp(medianB) != 0 || minA.Cmp(minB) != 0 || maxA.Cmp(maxB) != 0 {
						t.Errorf("%s row %d: %q and %q are not equal", id, row, a[row][column], b[row][column])
					}
					cells++
				}
			}
		}
	}
	if cells != 560 {
		t.Errorf("read %d cells, expected 560", cells)
	}
}
