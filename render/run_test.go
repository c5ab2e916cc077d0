package render_test

import (
	"bytes"
	"errors"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pairbench/analyze/report"
	"pairbench/analyze/report/reporttest"
	"pairbench/records/atomicfile"
	"pairbench/render"
	"pairbench/render/i18n"
	"pairbench/render/rendertest"
)

func TestRunWritesTheFilesOfADesignedReport(t *testing.T) {
	out := filepath.Join(t.TempDir(), "report")
	paths, err := render.Run(render.Options{Report: rendertest.Database(), Out: out})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			t.Error(err)
		}
		name, err := filepath.Rel(out, p)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	if want := []string{"report.en.html", "report.en.md", "report.zh-CN.html", "report.zh-CN.md"}; !slices.Equal(names[:4], want) {
		t.Errorf("the first paths are %q, expected %q", names[:4], want)
	}
	for _, want := range []string{"csv/redis_tcp_throughput.csv", "csv/mysql_tls_peak_rss.csv", "csv/processes.csv",
		"charts/redis_tcp_throughput.en.svg", "charts/redis_tcp_throughput.zh-CN.vl.json", "charts/mysql_tls_distribution.en.svg", "charts/redis_tcp_order.en.svg"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing", want)
		}
	}
	const mebi = 1 << 20
	for _, name := range []string{"report.en.html", "report.zh-CN.html"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() > mebi*3/2 {
			t.Errorf("%s: %v, larger than 1.5 MiB", name, err)
		}
	}
}

func TestSameReportSameBytes(t *testing.T) {
	render1, err := render.Files(render.Options{Report: rendertest.Database()})
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := report.Encode(&buf, rendertest.Database()); err != nil {
		t.Fatal(err)
	}
	decoded, err := report.Decode(&buf)
	if err != nil {
		t.Fatal(err)
	}
	render2, err := render.Files(render.Options{Report: decoded})
	if err != nil {
		t.Fatal(err)
	}
	if len(render1) != len(render2) {
		t.Fatalf("%d and %d files", len(render1), len(render2))
	}
	for i := range render1 {
		if render1[i].Path != render2[i].Path || !bytes.Equal(render1[i].Content, render2[i].Content) {
			t.Errorf("%s differs after a round through JSON", render1[i].Path)
		}
	}
}

func TestFormatsAndLanguages(t *testing.T) {
	for _, c := range []struct {
		formats, langs, want []string
	}{
		{[]string{"md"}, []string{"en"}, []string{"report.en.md"}},
		{[]string{"csv"}, []string{"zh-CN"}, nil},
		{[]string{"html", "html"}, []string{"zh-CN"}, []string{"report.zh-CN.html"}},
	} {
		files, err := render.Files(render.Options{Report: reporttest.Compact(), Formats: c.formats, Langs: c.langs})
		if err != nil {
			t.Fatal(err)
		}
		var top []string
		for _, f := range files {
			if !strings.Contains(f.Path, "/") {
				top = append(top, f.Path)
			}
			if strings.HasPrefix(f.Path, "csv/") != (c.formats[0] == "csv") {
				t.Errorf("%v %v gives %s", c.formats, c.langs, f.Path)
			}
			if c.formats[0] == "html" && bytes.Contains(f.Content, []byte(`href="csv/`)) {
				t.Errorf("%s links to files that are not written", f.Path)
			}
			if bytes.Contains(f.Content, []byte(`href="report.`)) {
				t.Errorf("%s links to a language that is not written", f.Path)
			}
		}
		if !slices.Equal(top, c.want) {
			t.Errorf("%v %v gives %q, expected %q", c.formats, c.langs, top, c.want)
		}
	}
	for _, bad := range []render.Options{{Formats: []string{"pdf"}}, {Langs: []string{"fr"}}} {
		bad.Report = reporttest.Compact()
		var unknown *render.UnknownError
		if _, err := render.Files(bad); !errors.As(err, &unknown) {
			t.Errorf("%v %v: got %v", bad.Formats, bad.Langs, err)
		}
	}
}

// failing is a disk whose n-th change fails.
type failing struct {
	atomicfile.OS
	left *atomic.Int64
}

var errDisk = errors.New("no space left")

func (f failing) spend() error {
	if f.left.Add(-1) < 0 {
		return errDisk
	}
	return nil
}

func (f failing) CreateTemp(dir, prefix string) (atomicfile.File, error) {
	if err := f.spend(); err != nil {
		return nil, err
	}
	return f.OS.CreateTemp(dir, prefix)
}

func (f failing) Rename(from, to string) error {
	if err := f.spend(); err != nil {
		return err
	}
	return f.OS.Rename(from, to)
}

func (f failing) Mkdir(path string, perm fs.FileMode) error {
	if err := f.spend(); err != nil {
		return err
	}
	return f.OS.Mkdir(path, perm)
}

func TestAReportIsCompleteOrNotThere(t *testing.T) {
	parent := t.TempDir()
	out := filepath.Join(parent, "report")
	opt := render.Options{Report: reporttest.Compact(), Out: out, Langs: []string{"en"}, Formats: []string{"md"}}
	for n := int64(0); ; n++ {
		disk := failing{left: new(atomic.Int64)}
		disk.left.Store(n)
		opt.FS = disk
		_, err := render.Run(opt)
		if err == nil {
			if n < 10 {
				t.Errorf("checker is broken: only %d changes were made to the disk", n)
			}
			break
		}
		if !errors.Is(err, errDisk) {
			t.Fatalf("change %d: %v", n, err)
		}
		left, err := os.ReadDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) != 0 {
			t.Fatalf("change %d fails and leaves %v", n, left)
		}
	}
	opt.FS = nil
	if _, err := render.Run(opt); !errors.Is(err, render.ErrNotEmpty) {
		t.Errorf("a report over another: %v", err)
	}
	empty := filepath.Join(parent, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	opt.Out = empty
	if _, err := render.Run(opt); err != nil {
		t.Errorf("into an empty directory: %v", err)
	}
}

func TestPNG(t *testing.T) {
	if _, err := exec.LookPath("rsvg-convert"); err != nil {
		t.Fatal("this test converts charts: install the package librsvg2-bin")
	}
	out := filepath.Join(t.TempDir(), "report")
	if _, err := render.Run(render.Options{Report: reporttest.Compact(), Out: out, PNG: true, Langs: []string{"zh-CN"}, Formats: []string{"md"}}); err != nil {
		t.Fatal(err)
	}
	svgs, _ := filepath.Glob(filepath.Join(out, "charts", "*.svg"))
	for _, svg := range svgs {
		f, err := os.Open(strings.TrimSuffix(svg, ".svg") + ".png")
		if err != nil {
			t.Error(err)
			continue
		}
		picture, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", svg, err)
			continue
		}
		// More than paper and one ink: bars of both arms and text were drawn.
		colours := map[[3]uint32]bool{}
		b := picture.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y += 3 {
			for x := b.Min.X; x < b.Max.X; x += 3 {
				r, g, bl, _ := picture.At(x, y).RGBA()
				colours[[3]uint32{r, g, bl}] = true
			}
		}
		if b.Dx() < 1900 || len(colours) < 8 {
			t.Errorf("%s: %d pixels wide, %d colours", svg, b.Dx(), len(colours))
		}
	}
	if len(svgs) == 0 {
		t.Error("no chart was written")
	}
}

func TestTerminal(t *testing.T) {
	for _, lang := range render.Languages() {
		for _, width := range []int{0, 40, 80, 200} {
			var b strings.Builder
			if err := render.Terminal(&b, rendertest.Database(), lang, width); err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(b.String(), "\n") {
				wide := 0
				for _, r := range line {
					wide++
					if r >= 0x2e80 && r < 0xffa0 {
						wide++
					}
				}
				if wide > max(width, 40) {
					t.Errorf("%s: a line of %d columns on a terminal of %d: %q", lang, wide, width, line)
				}
			}
			if width >= 80 {
				for _, want := range []string{"−1.37%", "+12.80%", "22/28", "24/28"} {
					if !strings.Contains(b.String(), want) {
						t.Errorf("%s at %d: no %s in\n%s", lang, width, want, b.String())
					}
				}
			}
		}
	}
	if err := render.Terminal(&strings.Builder{}, rendertest.Database(), "fr", 80); err == nil {
		t.Error("an unknown language was written")
	}
}

// The lead and the sentence about an A/A study are broken over lines, never cut.
func TestTerminalSaysThatBothLabelsWereOneProgram(t *testing.T) {
	for _, lang := range render.Languages() {
		words, _ := i18n.For(lang)
		for _, width := range []int{40, 80} {
			r := rendertest.Database()
			r.Study.AA = true
			var b strings.Builder
			if err := render.Terminal(&b, r, lang, width); err != nil {
				t.Fatal(err)
			}
			joined := strings.ReplaceAll(b.String(), "\n", words.Space)
			for _, want := range []string{words.Sentences.QuestionAA, words.Sentences.AA, words.Terminal.Difference} {
				if !strings.Contains(joined, want) {
					t.Errorf("%s at %d: %q is not said whole in\n%s", lang, width, want, b.String())
				}
			}
		}
	}
}
