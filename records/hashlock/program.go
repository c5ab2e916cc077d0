package hashlock

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"pairbench/records"
	"pairbench/records/hashlock/loader"
)

// maxInterpreters is the number of interpreters that Linux follows from script
// to script.
const maxInterpreters = 5

// statFile returns a regular file's facts.
func statFile(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("not a regular file")
	}
	return info, err
}

// gapText words an error for a gap; the path already stands in the row.
func gapText(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "not found"
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return "not readable: " + pathErr.Err.Error()
	}
	return err.Error()
}

// program adds an executable file, its interpreters, its libraries and what Go
// recorded in it.
func (t *taking) program(in records.Input, root Root, depth int) {
	r := t.file(in, root.Path, root.Side)
	if r.SHA256 == nil {
		return
	}
	path := *r.Path
	if argv := shebang(path); argv != nil {
		if root.Kind == KindBinary {
			r.Kind = KindScript
		}
		t.interpreters(root, path, argv, depth)
		return
	}
	closure, err := t.system.Closure(loader.Program{Path: path, Env: root.Env, Dir: root.Dir})
	if err != nil {
		r.Gap = ptr("shared libraries unknown: " + gapText(err))
		return
	}
	switch {
	case closure.Format == loader.FormatOther:
		if root.Kind != KindScript {
			r.Gap = ptr("shared libraries unknown: neither ELF nor Mach-O nor a script with an interpreter")
		}
	case closure.Static:
		r.Value = ptr("static")
	default:
		r.Value = ptr("dynamic")
	}
	for _, o := range closure.Objects {
		t.object(o, root.Side)
	}
	t.buildInfo(path, root.Side)
}

// object adds one file of a closure.
func (t *taking) object(o loader.Object, side records.Side) {
	in := records.Input{Kind: KindLibrary, Name: o.Name, ResolvedBy: o.ResolvedBy, RequiredBy: ptr(realPath(o.RequiredBy))}
	if o.Gap != "" {
		in.Gap = &o.Gap
	}
	if o.Note != "" {
		in.Value = &o.Note
	}
	if o.Path == "" {
		t.add(in, side)
		return
	}
	t.file(in, o.Path, side)
}

// shebang returns the interpreter of a script and its argument, if it has one;
// nil for any other file.
func shebang(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return nil
	}
	rest, ok := bytes.CutPrefix(head[:n], []byte("#!"))
	if !ok {
		return nil
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	interpreter, argument, _ := strings.Cut(strings.Trim(string(line), " \t\r"), " ")
	if interpreter == "" {
		return nil
	}
	if argument = strings.TrimSpace(argument); argument == "" {
		return []string{interpreter}
	}
	return []string{interpreter, argument}
}

// interpreters adds what runs a script; behind env also the program that env
// looks up.
func (t *taking) interpreters(root Root, script string, argv []string, depth int) {
	in := records.Input{Kind: KindBinary, Name: argv[0], ResolvedBy: "shebang", RequiredBy: &script}
	if depth >= maxInterpreters {
		in.Gap = ptr(fmt.Sprintf("interpreter of an interpreter, more than %d deep", maxInterpreters))
		t.add(in, root.Side)
		return
	}
	next := root
	next.Kind, next.Path = KindBinary, absIn(root.Dir, argv[0])
	t.program(in, next, depth+1)
	if filepath.Base(argv[0]) != "env" || len(argv) < 2 {
		return
	}
	words := strings.Fields(argv[1])
	if len(words) > 0 && words[0] == "-S" {
		words = words[1:]
	}
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	in.Name, in.ResolvedBy = words[0], "PATH"
	found, ok := lookPath(words[0], root)
	if !ok || strings.HasPrefix(words[0], "-") {
		in.Gap = ptr("not found on the PATH of the process")
		t.add(in, root.Side)
		return
	}
	next.Path = found
	t.program(in, next, depth+1)
}

// lookPath finds a command on the PATH that the process gets.
func lookPath(name string, root Root) (string, bool) {
	if strings.Contains(name, "/") {
		return absIn(root.Dir, name), true
	}
	path := "/bin:/usr/bin"
	for _, entry := range root.Env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
			break
		}
	}
	for _, dir := range strings.Split(path, ":") {
		if dir == "" {
			dir = "."
		}
		candidate := filepath.Join(absIn(root.Dir, dir), name)
		if info, err := statFile(candidate); err == nil && info.Mode()&0o111 != 0 {
			return candidate, true
		}
	}
	return "", false
}

// absIn makes a path absolute in a working directory; an empty one is ours.
func absIn(dir, path string) string {
	if filepath.IsAbs(path) || dir == "" {
		return path
	}
	return filepath.Join(dir, path)
}

// buildInfo adds what the Go tool recorded in a program: its version, every
// build setting and every module with its checksum.
func (t *taking) buildInfo(path string, side records.Side) {
	info, err := readBuildInfo(path)
	if err != nil {
		return
	}
	setting := func(name, value string) {
		t.add(records.Input{Kind: KindBuildSetting, Name: name, Value: &value, ResolvedBy: "buildinfo", RequiredBy: &path}, side)
	}
	setting("go", info.GoVersion)
	setting("path", info.Path)
	for _, s := range info.Settings {
		setting(s.Key, s.Value)
	}
	module := func(m *debug.Module) {
		value := strings.TrimSpace(m.Version + " " + m.Sum)
		if m.Replace != nil {
			value = strings.TrimSpace(m.Version + " => " + m.Replace.Path + " " + strings.TrimSpace(m.Replace.Version+" "+m.Replace.Sum))
		}
		t.add(records.Input{Kind: KindModule, Name: m.Path, Value: &value, ResolvedBy: "buildinfo", RequiredBy: &path}, side)
	}
	if info.Main.Path != "" {
		module(&info.Main)
	}
	for _, m := range info.Deps {
		module(m)
	}
}

// readBuildInfo turns a panic of the standard library's parsers on a damaged
// file into an error.
func readBuildInfo(path string) (info *buildinfo.BuildInfo, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("read build info of %s: %v", path, v)
		}
	}()
	return buildinfo.ReadFile(path)
}
