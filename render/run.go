package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"pairbench/analyze/report"
	"pairbench/records/atomicfile"
	"pairbench/render/chart"
	"pairbench/render/csv"
	"pairbench/render/html"
	"pairbench/render/i18n"
	"pairbench/render/layout"
	"pairbench/render/markdown"
)

// The formats of Options.Formats.
const (
	FormatHTML     = "html"
	FormatMarkdown = "md"
	FormatCSV      = "csv"
)

// Formats lists all formats, the default.
func Formats() []string { return []string{FormatHTML, FormatMarkdown, FormatCSV} }

// Languages lists all languages, the default.
func Languages() []string { return i18n.Languages() }

// Options say what to write, and where.
type Options struct {
	// Report must be valid (report.Validate); Decode's and analyze's are.
	Report *report.Report
	// Out is the directory to make. It must not exist, or be empty.
	Out string
	// Formats and Langs are what to write; nil means all. The charts' files come
	// with html and md.
	Formats, Langs []string
	// PNG also converts the charts with rsvg-convert, which must be installed.
	PNG bool
	// FS is the disk; nil is the real one.
	FS atomicfile.FS
}

// UnknownError reports a format or language that does not exist.
type UnknownError struct {
	What, Value string
	Known       []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("render: %s %q is unknown, expected one of %s", e.What, e.Value, strings.Join(e.Known, ", "))
}

// ErrNotEmpty is wrapped when Out holds something already.
var ErrNotEmpty = errors.New("exists already and is not empty")

// Run writes a report into Options.Out and returns the paths of all files,
// sorted, the HTML and Markdown reports first. Out appears under its name
// complete, or not at all: everything is written into a directory beside it
// first, which takes the name at the end.
func Run(opt Options) ([]string, error) {
	files, err := Files(opt)
	if err != nil {
		return nil, err
	}
	if opt.FS == nil {
		opt.FS = atomicfile.OS{}
	}
	if err := place(opt.FS, opt.Out, files, opt.PNG); err != nil {
		return nil, err
	}
	paths := make([]string, 0, len(files))
	for _, f := range files {
		paths = append(paths, filepath.Join(opt.Out, filepath.FromSlash(f.Path)))
	}
	return paths, nil
}

// File is a file of a rendered report, by its path relative to it.
type File struct {
	Path    string
	Content []byte
	// plain is the same drawing for rsvg-convert; nil but for charts.
	plain []byte
}

// Files renders without touching a disk.
func Files(opt Options) ([]File, error) {
	formats, err := choose("format", opt.Formats, Formats())
	if err != nil {
		return nil, err
	}
	langs, err := choose("language", opt.Langs, Languages())
	if err != nil {
		return nil, err
	}
	if err := opt.Report.Validate(); err != nil {
		return nil, fmt.Errorf("render: report: %w", err)
	}
	wants := map[string]bool{}
	for _, f := range formats {
		wants[f] = true
	}
	painter := chart.NewPainter()
	// The languages do not depend on each other: one goroutine each.
	perLang := make([][]File, len(langs))
	var group sync.WaitGroup
	for i, lang := range langs {
		group.Go(func() { perLang[i] = language(opt, lang, langs, wants, painter) })
	}
	var files []File
	if wants[FormatCSV] {
		for _, f := range csv.Files(opt.Report) {
			files = append(files, File{Path: f.Path, Content: f.Content})
		}
	}
	group.Wait()
	for _, more := range perLang {
		files = append(files, more...)
	}
	if opt.PNG {
		for _, f := range files {
			if name, ok := strings.CutSuffix(f.Path, ".svg"); ok {
				files = append(files, File{Path: name + ".png"})
			}
		}
	}
	sort.SliceStable(files, func(i, j int) bool {
		deep := func(p string) bool { return strings.Contains(p, "/") }
		if a, b := deep(files[i].Path), deep(files[j].Path); a != b {
			return b
		}
		return files[i].Path < files[j].Path
	})
	return files, nil
}

func language(opt Options, lang string, langs []string, wants map[string]bool, painter *chart.Painter) []File {
	w, _ := i18n.For(lang)
	doc := layout.Build(opt.Report, w, layout.Options{CSV: wants[FormatCSV]})
	var files []File
	if wants[FormatMarkdown] {
		files = append(files, File{Path: "report." + lang + ".md", Content: markdown.Write(doc, w, markdown.Options{Charts: true})})
	}
	if wants[FormatHTML] {
		var others []string
		for _, other := range langs {
			if other != lang {
				others = append(others, other)
			}
		}
		files = append(files, File{Path: html.FileName(lang), Content: html.Write(doc, w, painter, html.Options{Others: others, Charts: true})})
	}
	if wants[FormatMarkdown] || wants[FormatHTML] {
		for _, f := range doc.Figures() {
			base := "charts/" + chart.FileName(f, lang)
			svg := File{Path: base + ".svg", Content: painter.SVG(f)}
			if opt.PNG {
				svg.plain = painter.PlainSVG(f)
			}
			files = append(files, svg, File{Path: base + ".vl.json", Content: chart.VegaLite(f)})
		}
	}
	return files
}

func choose(what string, asked, known []string) ([]string, error) {
	if len(asked) == 0 {
		return known, nil
	}
	var chosen []string
	seen := map[string]bool{}
	for _, a := range asked {
		ok := false
		for _, k := range known {
			ok = ok || a == k
		}
		if !ok {
			return nil, &UnknownError{what, a, known}
		}
		if !seen[a] {
			seen[a] = true
			chosen = append(chosen, a)
		}
	}
	return chosen, nil
}

// place makes the directory out of the files; out may be there, and empty.
func place(fsys atomicfile.FS, out string, files []File, png bool) error {
	entries, err := os.ReadDir(out)
	switch {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("render %s: %w", out, ErrNotEmpty)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("render %s: %w", out, errors.Unwrap(err))
	}
	err = atomicfile.Dir(fsys, out, func(temp string) error {
		made := map[string]bool{".": true}
		for _, f := range files {
			if dir := filepath.Dir(f.Path); !made[dir] {
				if err := fsys.Mkdir(filepath.Join(temp, dir), 0o755); err != nil {
					return err
				}
				made[dir] = true
			}
		}
		if err := writeAll(fsys, temp, files); err != nil {
			return err
		}
		if png {
			if err := convert(temp, files); err != nil {
				return err
			}
		}
		if entries != nil { // empty, as seen above
			return fsys.Remove(out)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("render %s: %w", out, err)
	}
	return nil
}

// writeAll makes the files durable, a few at a time: most of the time goes into
// waiting for the disk.
func writeAll(fsys atomicfile.FS, dir string, files []File) error {
	work := make(chan File)
	failed := make([]error, 8)
	var group sync.WaitGroup
	for i := range failed {
		group.Go(func() {
			for f := range work {
				if failed[i] == nil && f.Content != nil {
					failed[i] = atomicfile.WriteBytes(fsys, filepath.Join(dir, filepath.FromSlash(f.Path)), 0o644, f.Content)
				}
			}
		})
	}
	for _, f := range files {
		work <- f
	}
	close(work)
	group.Wait()
	return errors.Join(failed...)
}

// convert makes a PNG of every chart, at twice its size.
func convert(dir string, files []File) error {
	tool, err := exec.LookPath("rsvg-convert")
	if err != nil {
		return errors.New("PNG needs rsvg-convert (package librsvg2-bin), which is not on the PATH")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for _, f := range files {
		if f.plain == nil {
			continue
		}
		name, _ := strings.CutSuffix(f.Path, ".svg")
		out := filepath.Join(dir, filepath.FromSlash(name)+".png")
		cmd := exec.CommandContext(ctx, tool, "--zoom", "2", "--output", out)
		cmd.Stdin = strings.NewReader(string(f.plain))
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("rsvg-convert %s: %w: %.200s", f.Path, err, layout.Visible(string(text)))
		}
	}
	return nil
}
