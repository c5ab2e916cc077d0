package loader

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// elfImage is one loaded object of the walk.
type elfImage struct {
	file   *elfFile
	path   string // as the loader writes it
	origin string
	info   fs.FileInfo
	loader *elfImage // who brought it in; nil for the program
}

// elfWalk is one run of the GNU (or musl) loader's resolution.
type elfWalk struct {
	system      *System
	program     Program
	main        *elfImage
	images      []*elfImage
	objects     []Object
	answers     map[string]bool // names that are taken
	missing     map[string]bool
	lookups     int
	directories map[string]bool // whether each exists
	musl        bool
	defaults    []string
	lib         string // what $LIB stands for
}

func (s *System) elfClosure(p Program, e *elfFile, info fs.FileInfo) Closure {
	c := Closure{Format: FormatELF, Static: e.interp == ""}
	if c.Static && !(e.dynamic && len(e.needed) > 0 && strings.Contains(filepath.Base(p.Path), ".so")) {
		return c
	}
	path := p.Path
	if real, err := filepath.EvalSymlinks(p.abs(p.Path)); err == nil {
		path = real
	}
	w := &elfWalk{system: s, program: p, answers: map[string]bool{}, missing: map[string]bool{}, directories: map[string]bool{}}
	w.musl = strings.Contains(filepath.Base(e.interp), "ld-musl-")
	w.main = &elfImage{file: e, path: path, origin: filepath.Dir(path), info: info}
	w.admit(w.main, "")
	w.interpreter()
	var preload []elfNeed
	for _, name := range preloadEntries(p.variable("LD_PRELOAD")) {
		preload = append(preload, elfNeed{name: name, optional: true})
	}
	w.load(w.main, preload, "LD_PRELOAD")
	preload = nil
	for _, name := range s.Preload {
		preload = append(preload, elfNeed{name: name, optional: true})
	}
	w.load(w.main, preload, "/etc/ld.so.preload")
	for i := 0; i < len(w.images) && !w.full(); i++ {
		w.load(w.images[i], w.images[i].file.needed, "")
	}
	if w.full() {
		w.objects = append(w.objects, Object{Name: p.Path, ResolvedBy: "walk", Gap: fmt.Sprintf("more than %d objects or %d searches: the rest was not followed", maxObjects, maxLookups)})
	}
	if p.variable("LD_AUDIT") != "" {
		w.objects = append(w.objects, Object{Name: "LD_AUDIT", ResolvedBy: "LD_AUDIT", RequiredBy: path, Gap: "audit libraries can redirect every look-up and are not followed"})
	}
	c.Static = e.interp == ""
	c.Objects = w.objects
	return c
}

// interpreter loads the loader itself and learns its default directories.
func (w *elfWalk) interpreter() {
	name := w.main.file.interp
	if name == "" {
		w.setDefaults(nil)
		return
	}
	o := Object{Name: name, Path: w.program.abs(name), ResolvedBy: "PT_INTERP", RequiredBy: w.main.path}
	file, info, err := openELF(o.Path)
	if err != nil {
		o.Path, o.Gap = "", "interpreter: "+reason(err)
		w.setDefaults(nil)
	} else {
		w.admit(&elfImage{file: file, path: o.Path, origin: filepath.Dir(o.Path), info: info, loader: w.main}, name)
		if f, err := os.Open(o.Path); err == nil {
			w.setDefaults(defaultDirs(f, info.Size()))
			f.Close()
		}
	}
	w.objects = append(w.objects, o)
}

// setDefaults takes the directories that the loader carries, or the usual ones.
func (w *elfWalk) setDefaults(dirs []string) {
	switch {
	case w.musl:
		dirs = muslDirs(w.main.file.interp)
	case dirs == nil && w.main.file.class == elf.ELFCLASS64:
		dirs = []string{"/lib64/", "/usr/lib64/", "/lib/", "/usr/lib/"}
	case dirs == nil:
		dirs = []string{"/lib/", "/usr/lib/"}
	}
	w.defaults = dirs
	w.lib = "lib"
	if first := strings.Trim(strings.TrimPrefix(dirs[0], "/usr"), "/"); strings.HasPrefix(first, "lib") {
		w.lib = first
	}
}

// muslBuiltIn matches the libraries that the musl loader is itself.
var muslBuiltIn = regexp.MustCompile(`^lib(c|pthread|rt|m|dl|util|xnet)\.`)

// muslDirs returns the search path of a musl loader: its path file, or what is
// compiled in.
func muslDirs(interp string) []string {
	arch := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(interp), "ld-musl-"), ".so.1")
	b, err := os.ReadFile("/etc/ld-musl-" + arch + ".path")
	if err != nil {
		return []string{"/lib/", "/usr/local/lib/", "/usr/lib/"}
	}
	dirs := strings.FieldsFunc(string(b), func(r rune) bool { return r == ':' || r == '\n' })
	if len(dirs) == 0 {
		return []string{"/lib/"}
	}
	return dirs
}

// full reports whether the walk has met so much that it is no honest program.
func (w *elfWalk) full() bool { return len(w.objects) >= maxObjects || w.lookups >= maxLookups }

// load brings in what one image asks for. A rule that is not empty replaces the
// name of the rule that finds each object: these were asked for from outside.
func (w *elfWalk) load(by *elfImage, needs []elfNeed, rule string) {
	for _, need := range needs {
		if w.full() {
			return
		}
		name, known := w.expand(by, need.name)
		if !known {
			w.objects = append(w.objects, Object{Name: need.name, ResolvedBy: "not found", RequiredBy: by.path, Gap: errPlatform.Error()})
			continue
		}
		if w.loaded(name) {
			continue
		}
		w.lookups++
		path, resolvedBy, file, info, err := w.find(by, name)
		if rule != "" {
			resolvedBy = rule
		}
		o := Object{Name: need.name, Path: path, ResolvedBy: resolvedBy, RequiredBy: by.path}
		if err != nil {
			if w.missing[name] {
				continue
			}
			w.missing[name] = true
			o.Path = ""
			if o.ResolvedBy == "" {
				o.ResolvedBy = "not found"
			}
			if need.optional && errors.Is(err, fs.ErrNotExist) {
				o.Note = "absent"
			} else {
				o.Gap = reason(err)
			}
			w.objects = append(w.objects, o)
			continue
		}
		if w.sameFile(name, info) {
			continue
		}
		w.admit(&elfImage{file: file, path: path, origin: filepath.Dir(path), info: info, loader: by}, name)
		w.objects = append(w.objects, o)
	}
}

// loaded reports whether an image already answers to the name.
func (w *elfWalk) loaded(name string) bool {
	return w.answers[name] || w.musl && muslBuiltIn.MatchString(name)
}

// admit adds an image. It answers to the name it was asked for by, to its path,
// and to its DT_SONAME, which musl does not look at. The program itself has
// neither name nor path for the loader.
func (w *elfWalk) admit(im *elfImage, name string) {
	w.images = append(w.images, im)
	if im.loader != nil {
		w.answers[name], w.answers[im.path] = true, true
	}
	if im.file.soname != "" && !w.musl {
		w.answers[im.file.soname] = true
	}
}

// sameFile reports whether the file is already loaded under another name; that
// image then answers to the new name too.
func (w *elfWalk) sameFile(name string, info fs.FileInfo) bool {
	for _, im := range w.images {
		if os.SameFile(im.info, info) {
			w.answers[name] = true
			return true
		}
	}
	return false
}

// errPlatform names a search that cannot be repeated outside the loader.
var errPlatform = errors.New("the path holds $PLATFORM, which the C library decides by looking at the processor")

// find applies the loader's rules in their order. The rule is returned even
// when the file it points to cannot be loaded.
func (w *elfWalk) find(by *elfImage, name string) (path, rule string, file *elfFile, info fs.FileInfo, err error) {
	if strings.Contains(name, "/") {
		path = w.program.abs(name)
		file, info, err = openELF(path)
		if err == nil && !w.fits(file) {
			err = errWrongMachine
		}
		return path, "path", file, info, err
	}
	for _, step := range w.searchPath(by) {
		for _, dir := range step.dirs {
			dir, known := w.expand(step.origin, dir)
			if !known {
				return "", step.rule, nil, nil, errPlatform
			}
			path, file, info, err = w.probe(dir, name)
			if err == nil || !errors.Is(err, fs.ErrNotExist) {
				return path, step.rule, file, info, err
			}
		}
		if step.rule != ruleCache {
			continue
		}
		path, ok := w.system.Cache.lookup(name, w.main.file.machine, w.main.file.class, w.system.HWCaps)
		if !ok || by.file.flags1&uint64(elf.DF_1_NODEFLIB) != 0 && w.isDefault(path) {
			continue
		}
		if file, info, err := openELF(path); err == nil && w.fits(file) {
			return path, step.rule, file, info, nil
		}
	}
	return "", "", nil, nil, fs.ErrNotExist
}

// searchStep is one source of directories, or the cache when it has none.
type searchStep struct {
	rule   string
	origin *elfImage // whose $ORIGIN counts
	dirs   []string
}

// searchPath lists the steps for what an image asks for.
func (w *elfWalk) searchPath(by *elfImage) []searchStep {
	env := searchStep{rule: "LD_LIBRARY_PATH", origin: w.main, dirs: splitPath(w.program.variable("LD_LIBRARY_PATH"), ":;")}
	system := searchStep{rule: "default directory", origin: w.main, dirs: w.defaults}
	if w.musl {
		steps := []searchStep{env}
		for im := by; im != nil; im = im.loader {
			steps = append(steps, rpathStep(im), runpathStep(im))
		}
		return append(steps, system)
	}
	var steps []searchStep
	if by.file.runpath == nil {
		sawMain := false
		for im := by; im != nil; im = im.loader {
			steps = append(steps, rpathStep(im))
			sawMain = sawMain || im == w.main
		}
		if !sawMain {
			steps = append(steps, rpathStep(w.main))
		}
	}
	steps = append(steps, env, runpathStep(by), searchStep{rule: ruleCache})
	if by.file.flags1&uint64(elf.DF_1_NODEFLIB) == 0 {
		steps = append(steps, system)
	}
	return steps
}

const ruleCache = "ld.so.cache"

func rpathStep(im *elfImage) searchStep {
	step := searchStep{rule: "DT_RPATH", origin: im}
	if im.file.rpath != nil {
		step.dirs = splitPath(*im.file.rpath, ":")
	}
	return step
}

func runpathStep(im *elfImage) searchStep {
	step := searchStep{rule: "DT_RUNPATH", origin: im}
	if im.file.runpath != nil {
		step.dirs = splitPath(*im.file.runpath, ":")
	}
	return step
}

// splitPath splits a list of directories; an empty element is the working
// directory, an empty list is none.
func splitPath(list, separators string) []string {
	if list == "" {
		return nil
	}
	var dirs []string
	for {
		i := strings.IndexAny(list, separators)
		dir := list
		if i >= 0 {
			dir = list[:i]
		}
		if dir == "" {
			dir = "."
		}
		dirs = append(dirs, dir)
		if i < 0 {
			return dirs
		}
		list = list[i+1:]
	}
}

// probe tries one directory, hardware subdirectories first. Files of another
// machine are passed over; a damaged one ends the search, as it ends the
// loader's.
func (w *elfWalk) probe(dir, name string) (string, *elfFile, fs.FileInfo, error) {
	dir = w.program.abs(dir)
	if trimmed := strings.TrimRight(dir, "/"); trimmed != "" {
		dir = trimmed
	}
	if !w.musl && w.hasHWCaps(dir) {
		for _, sub := range w.system.HWCaps {
			path := dir + "/glibc-hwcaps/" + sub + "/" + name
			if file, info, err := w.open(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
				return path, file, info, err
			}
		}
	}
	if !w.musl && w.hasLegacyCopy(dir, name) {
		return "", nil, nil, errLegacyCopy
	}
	path := dir + "/" + name
	file, info, err := w.open(path)
	return path, file, info, err
}

func (w *elfWalk) hasHWCaps(dir string) bool { return w.hasDirectory(dir + "/glibc-hwcaps") }

// hasDirectory remembers its answers: the same few directories are searched for
// every library.
func (w *elfWalk) hasDirectory(dir string) bool {
	has, known := w.directories[dir]
	if !known {
		info, err := os.Stat(dir)
		has = err == nil && info.IsDir()
		w.directories[dir] = has
	}
	return has
}

// legacySubdirs are the names by which glibc before 2.37 found libraries for
// some processors, below any directory that it searched.
var legacySubdirs = []string{"tls", "haswell", "xeon_phi", "avx512_1", "x86_64", "i686", "sse2"}

// hasLegacyCopy reports whether a library lies in such a subdirectory, or in
// one below it.
func (w *elfWalk) hasLegacyCopy(dir, name string) bool {
	for _, outer := range legacySubdirs {
		sub := dir + "/" + outer
		if !w.hasDirectory(sub) {
			continue
		}
		if _, err := os.Lstat(sub + "/" + name); err == nil {
			return true
		}
		for _, inner := range legacySubdirs {
			if _, err := os.Lstat(sub + "/" + inner + "/" + name); err == nil {
				return true
			}
		}
	}
	return false
}

// errLegacyCopy names a search whose end depends on loader and processor.
var errLegacyCopy = errors.New("a copy lies in a subdirectory that glibc before 2.37 searches on some processors")

// open opens a candidate. Whatever lets the loader go on looking is
// fs.ErrNotExist.
func (w *elfWalk) open(path string) (*elfFile, fs.FileInfo, error) {
	file, info, err := openELF(path)
	switch {
	case err == nil && !w.fits(file):
		return nil, nil, fs.ErrNotExist
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		return nil, nil, fs.ErrNotExist
	}
	return file, info, err
}

var errWrongMachine = errors.New("made for another machine or word size")

// fits reports whether the file can be loaded beside the program.
func (w *elfWalk) fits(f *elfFile) bool {
	return f.class == w.main.file.class && f.machine == w.main.file.machine && f.order == w.main.file.order &&
		(f.typ == elf.ET_DYN || f.typ == elf.ET_EXEC)
}

// isDefault reports whether a path lies directly in a default directory.
func (w *elfWalk) isDefault(path string) bool {
	for _, dir := range w.defaults {
		if strings.TrimRight(dir, "/") == filepath.Dir(path) {
			return true
		}
	}
	return false
}

// expand replaces the dynamic string tokens in a name or directory. It reports
// false when one of them stands for something that only the loader knows.
func (w *elfWalk) expand(im *elfImage, s string) (string, bool) {
	if !strings.Contains(s, "$") {
		return s, true
	}
	var out strings.Builder
	known := true
	for i := 0; i < len(s); {
		if s[i] == '$' {
			if n := tokenLength(s[i+1:], "ORIGIN"); n > 0 {
				out.WriteString(im.origin)
				i += 1 + n
				continue
			}
			if n := tokenLength(s[i+1:], "LIB"); n > 0 {
				out.WriteString(w.lib)
				i += 1 + n
				continue
			}
			if n := tokenLength(s[i+1:], "PLATFORM"); n > 0 {
				known = false
			}
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String(), known
}

// tokenLength returns the length of the token at the start of s, braces
// included; 0 when s starts with something else.
func tokenLength(s, token string) int {
	if rest, ok := strings.CutPrefix(s, "{"+token+"}"); ok {
		return len(s) - len(rest)
	}
	rest, ok := strings.CutPrefix(s, token)
	if !ok || rest != "" && (rest[0] == '_' || rest[0] >= '0' && rest[0] <= '9' || rest[0] >= 'A' && rest[0] <= 'Z' || rest[0] >= 'a' && rest[0] <= 'z') {
		return 0
	}
	return len(token)
}

// openELF reads the headers of a regular file.
func openELF(path string) (*elfFile, fs.FileInfo, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	file, err := parseELF(f, info.Size())
	return file, info, err
}
