package html_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"pairbench/analyze/report/reporttest"
	"pairbench/render"
	"pairbench/render/rendertest"
)

// browser is one headless Chromium with one page, spoken to over DevTools.
type browser struct {
	t        *testing.T
	conn     *websocket.Conn
	next     int
	requests []string // every URL asked for
	errors   []string // exceptions, console errors, refused content
}

const patience = 60 * time.Second

func startBrowser(t *testing.T) *browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("this test drives a browser: install the package chromium")
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-port=0", "--remote-allow-origins=*", "--user-data-dir="+t.TempDir(), "about:blank")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if _, url, ok := strings.Cut(lines.Text(), "DevTools listening on "); ok {
				address <- url
			}
		}
	}()
	select {
	case url := <-address:
		return connect(t, url)
	case <-time.After(patience):
		t.Fatal("chromium did not say where it listens")
		return nil
	}
}

func connect(t *testing.T, url string) *browser {
	t.Helper()
	root, _, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, conn: root}
	var target struct {
		TargetID string `json:"targetId"`
	}
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	root.Close()
	page := regexp.MustCompile(`/devtools/browser/.*`).ReplaceAllString(url, "/devtools/page/"+target.TargetID)
	b.conn, _, err = websocket.DefaultDialer.Dial(page, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.conn.SetReadLimit(64 << 20)
	t.Cleanup(func() { b.conn.Close() })
	for _, domain := range []string{"Network", "Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// call sends a command and waits for its answer, noting events on the way.
func (b *browser) call(method string, params any, result any) {
	b.t.Helper()
	b.next++
	if params == nil {
		params = map[string]any{}
	}
	if err := b.conn.WriteJSON(map[string]any{"id": b.next, "method": method, "params": params}); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.read()
		if m.ID != b.next {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

func (b *browser) read() message {
	b.t.Helper()
	var m message
	if err := b.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		b.t.Fatal(err)
	}
	if err := b.conn.ReadJSON(&m); err != nil {
		b.t.Fatal(err)
	}
	switch m.Method {
	case "Network.requestWillBeSent":
		var p struct {
			Request struct{ URL string }
		}
		_ = json.Unmarshal(m.Params, &p)
		b.requests = append(b.requests, p.Request.URL)
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.errors = append(b.errors, string(m.Params))
	}
	return m
}

// open loads a file and waits until it has loaded.
func (b *browser) open(path string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	b.wait("document.readyState === 'complete' && location.pathname === " + quote(path))
}

// eval runs an expression in the page and decodes its value.
func (b *browser) eval(expression string, into any) {
	b.t.Helper()
	var out struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &out)
	if out.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s %s", expression, out.ExceptionDetails.Text, out.ExceptionDetails.Exception.Description)
	}
	if into != nil {
		if err := json.Unmarshal(out.Result.Value, into); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// wait asks until an expression is true.
func (b *browser) wait(expression string) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		var ok bool
		b.eval("new Promise(r => requestAnimationFrame(() => r(Boolean("+expression+"))))", &ok)
		if ok {
			return
		}
	}
	b.t.Fatalf("never became true: %s", expression)
}

func (b *browser) size(width, height int, dark bool) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// picture saves a screenshot when PAIRBENCH_SCREENSHOTS names a directory.
func (b *browser) picture(name string) {
	dir := os.Getenv("PAIRBENCH_SCREENSHOTS")
	if dir == "" {
		return
	}
	b.t.Helper()
	var shot struct{ Data []byte }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func quote(s string) string {
	q, _ := json.Marshal(s)
	return string(q)
}

const helpers = `
window.column = (table, i) => [...document.querySelectorAll('#' + table + ' tbody tr')].filter(r => !r.hidden).map(r => r.cells[i].textContent);
window.press = selector => document.querySelector(selector).click();
`

// The whole published study, opened from disk as a reader would.
func TestReportInABrowser(t *testing.T) {
	out := filepath.Join(t.TempDir(), "report")
	if _, err := render.Run(render.Options{Report: rendertest.Database(), Out: out}); err != nil {
		t.Fatal(err)
	}
	en, zh := filepath.Join(out, "report.en.html"), filepath.Join(out, "report.zh-CN.html")
	b := startBrowser(t)
	b.size(1400, 1000, false)
	b.open(en)
	b.eval(helpers, nil)

	t.Run("sorts by value", func(t *testing.T) {
		b.t = t
		press := "press('#t-s1-throughput thead th:nth-child(4) button')"
		var before, up, down, again []string
		b.eval("column('t-s1-throughput', 3)", &before)
		b.eval(press+", column('t-s1-throughput', 3)", &up)
		b.eval(press+", column('t-s1-throughput', 3)", &down)
		b.eval(press+", column('t-s1-throughput', 3)", &again)
		if len(before) != 28 || up[0] != "994.8 [985.1–997.7]" || down[27] != up[0] || down[0] != up[27] {
			t.Errorf("sorted %d rows from %q to %q, then from %q", len(before), up[0], up[27], down[0])
		}
		if strings.Join(again, "|") != strings.Join(before, "|") {
			t.Error("the third press does not give the original order back")
		}
	})

	t.Run("filters by words", func(t *testing.T) {
		b.t = t
		var shown []string
		b.eval(`(() => { const box = document.querySelector('#t-s1-cpu').closest('.tbl').querySelector('input'); box.value = '4 kib continuous'; box.dispatchEvent(new Event('input')); return column('t-s1-cpu', 0); })()`, &shown)
		if len(shown) != 7 || shown[0] != "4 KiB" {
			t.Errorf("the filter leaves %q", shown)
		}
		var count string
		b.eval("document.querySelector('#t-s1-cpu').closest('.tbl').querySelector('output').textContent", &count)
		if count != "7 of 28 rows" {
			t.Errorf("the page says %q", count)
		}
	})

	t.Run("leads from a number to its processes", func(t *testing.T) {
		b.t = t
		var drill struct {
			Open                bool
			Title               string
			Rows, Hit, Dimmed   int
			Values              []string
			Hash, Sample, Order string
		}
		b.eval(`(() => {
			press('#t-s1-throughput tbody tr td:nth-child(4) a');
			const d = document.querySelector('dialog'), rows = [...d.querySelectorAll('tr.sa,tr.sb')];
			return {Open: d.open, Title: d.querySelector('h2').textContent, Rows: rows.length, Hit: d.querySelectorAll('td.hit').length,
				Dimmed: d.querySelectorAll('tr.other').length, Values: rows.filter(r => r.matches('.sa')).map(r => r.querySelector('.hit').textContent),
				Sample: [...d.querySelectorAll('dd')].map(e => e.textContent).find(s => s.endsWith('.parquet')),
				Hash: [...d.querySelectorAll('dd')].map(e => e.textContent).find(s => /^[0-9a-f]{64}$/.test(s)), Order: rows[0].cells[3].textContent};
		})()`, &drill)
		if !drill.Open || drill.Rows != 6 || drill.Hit != 6 || drill.Dimmed != 3 || !strings.Contains(drill.Title, "64 B · Continuous · 1/1") {
			t.Errorf("the processes behind the first number: %+v", drill)
		}
		for _, want := range []string{"11,246.7", "11,282.4", "11,135.8"} {
			if !strings.Contains(strings.Join(drill.Values, " "), want) {
				t.Errorf("the processes show %q, without %s", drill.Values, want)
			}
		}
		if drill.Sample == "" || drill.Hash == "" || drill.Order == "" {
			t.Errorf("sample file, hash or order is missing: %+v", drill)
		}
		b.picture("dialog-1400-light")
		b.size(400, 800, true)
		b.picture("dialog-400-dark")
		b.size(1400, 1000, false)
		b.eval("document.querySelector('dialog').close()", nil)
		b.wait("document.querySelector('#p1-1') && !document.querySelector('dialog #p1-1')")
	})

	t.Run("can be reached by keyboard", func(t *testing.T) {
		b.t = t
		var reached bool
		b.eval("(() => { const a = document.querySelector('#t-s1-throughput tbody a'); a.focus(); return document.activeElement === a && document.querySelector('#t-s1-throughput th button').tabIndex === 0; })()", &reached)
		if !reached {
			t.Error("a number or a column's button cannot take the focus")
		}
		for _, kind := range []string{"rawKeyDown", "char", "keyUp"} {
			b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}, nil)
		}
		b.wait("document.querySelector('dialog').open")
		for _, kind := range []string{"rawKeyDown", "keyUp"} {
			b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 27}, nil)
		}
		b.wait("!document.querySelector('dialog').open")
	})

	t.Run("fits its width, light and dark", func(t *testing.T) {
		b.t = t
		paper := map[bool]string{}
		for _, width := range []int{400, 768, 1400} {
			for _, dark := range []bool{false, true} {
				b.size(width, 1800, dark)
				b.eval("window.scrollTo(0, 0)", nil)
				b.wait("true")
				var overflow int
				b.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth", &overflow)
				if overflow > 0 {
					t.Errorf("at %d pixels the page is %d pixels too wide", width, overflow)
				}
				var colour string
				b.eval("getComputedStyle(document.querySelector('main')).backgroundColor", &colour)
				paper[dark] = colour
				b.picture(fmt.Sprintf("page-%d-%s", width, map[bool]string{false: "light", true: "dark"}[dark]))
				b.eval("document.querySelector('#t-s1-throughput').closest('.tbl').scrollIntoView()", nil)
				b.picture(fmt.Sprintf("table-%d-%s", width, map[bool]string{false: "light", true: "dark"}[dark]))
				b.eval("document.querySelector('#scope').scrollIntoView()", nil)
				b.picture(fmt.Sprintf("scope-%d-%s", width, map[bool]string{false: "light", true: "dark"}[dark]))
			}
		}
		if paper[false] == paper[true] {
			t.Errorf("light and dark have the same paper %s", paper[true])
		}
		b.size(1400, 1000, false)
	})

	t.Run("prints without its controls", func(t *testing.T) {
		b.t = t
		b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
		var shown []string
		b.eval("['nav', '.filter', '.langs'].filter(s => getComputedStyle(document.querySelector(s)).display !== 'none')", &shown)
		if len(shown) > 0 {
			t.Errorf("print shows %q", shown)
		}
		b.call("Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	})

	t.Run("switches the language and shows the same digits", func(t *testing.T) {
		b.t = t
		var english, chinese []string
		digits := "[...document.querySelectorAll('main td.n')].map(c => c.textContent.replace(/[^0-9.,+−%\\[\\]–]/g, ''))"
		b.open(en)
		b.eval(digits, &english)
		b.eval("document.querySelector('a.lang').click()", nil)
		b.wait("location.pathname === " + quote(zh) + " && document.readyState === 'complete' && document.documentElement.lang === 'zh-CN'")
		b.eval(digits, &chinese)
		if len(english) < 2000 || strings.Join(english, "|") != strings.Join(chinese, "|") {
			t.Errorf("%d and %d cells are not the same digits", len(english), len(chinese))
		}
		b.size(400, 1800, false)
		b.picture("zh-400-light")
		b.size(1400, 1000, false)
	})

	t.Run("makes no request and breaks no policy", func(t *testing.T) {
		for _, url := range b.requests {
			if url != "file://"+en && url != "file://"+zh && url != "about:blank" {
				t.Errorf("the page asked for %s", url)
			}
		}
		if len(b.requests) == 0 {
			t.Error("checker is broken: not even the page itself was requested")
		}
		if len(b.errors) > 0 {
			t.Errorf("the browser reports %q", b.errors)
		}
	})

	t.Run("is complete without script", func(t *testing.T) {
		b.t = t
		b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
		b.call("Page.navigate", map[string]any{"url": "file://" + en + "#p1-3"}, nil)
		var rows, links int
		var text string
		deadline := time.Now().Add(patience)
		for text == "" && time.Now().Before(deadline) {
			b.eval("(document.readyState === 'complete' && document.querySelector('#p1-3')) ? document.querySelector('#p1-3').textContent : ''", &text)
		}
		b.eval("document.querySelectorAll('#t-s1-throughput tbody tr').length", &rows)
		b.eval("document.querySelectorAll('#t-s1-throughput a[href=\"#p1-3\"]').length", &links)
		if rows != 28 || links != 3 || !strings.Contains(text, "10,140.7") {
			t.Errorf("without script: %d rows, %d links to the processes, processes %q", rows, links, text)
		}
		var opened bool
		b.eval("document.querySelector('#p1-3').closest('details').open", &opened)
		if !opened {
			t.Error("a link to a cell's processes does not unfold them")
		}
		b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	})

	t.Run("hostile names stay text", func(t *testing.T) {
		b.t = t
		evil := filepath.Join(t.TempDir(), "report")
		if _, err := render.Run(render.Options{Report: reporttest.Release(), Out: evil, Langs: []string{"en"}}); err != nil {
			t.Fatal(err)
		}
		before := len(b.errors)
		b.open(filepath.Join(evil, "report.en.html"))
		var found struct {
			Images, Scripts int
			Title           string
		}
		b.eval("({Images: document.images.length, Scripts: document.scripts.length, Title: document.querySelector('h1').textContent})", &found)
		if found.Images != 0 || found.Scripts != 1 || !strings.Contains(found.Title, "</script>") {
			t.Errorf("the page has %+v", found)
		}
		if len(b.errors) > before {
			t.Errorf("the browser reports %q", b.errors[before:])
		}
	})
}
