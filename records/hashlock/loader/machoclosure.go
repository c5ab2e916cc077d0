package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// machoImage is one loaded image of the walk.
type machoImage struct {
	file   *machoFile
	path   string
	loader *machoImage // who brought it in; nil for the program
}

// machoWalk is one run of dyld's resolution.
type machoWalk struct {
	system  *System
	program Program
	main    *machoImage
	images  []*machoImage
	objects []Object
	seen    map[string]bool // real paths loaded, and names that were not found
}

func (s *System) machoClosure(p Program, m *machoFile) Closure {
	path := p.abs(p.Path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	w := &machoWalk{system: s, program: p, seen: map[string]bool{path: true}}
	w.main = &machoImage{file: m, path: path}
	w.images = append(w.images, w.main)
	if m.linker != "" {
		w.load(w.main, machoLib{name: m.linker, kind: "load"}, "LC_LOAD_DYLINKER")
		w.images = w.images[:1] // dyld does not bind its own libraries this way
	}
	for _, name := range splitPath(p.variable("DYLD_INSERT_LIBRARIES"), ":") {
		w.load(w.main, machoLib{name: name, kind: "load"}, "DYLD_INSERT_LIBRARIES")
	}
	for i := 0; i < len(w.images) && len(w.objects) < maxObjects; i++ {
		for _, lib := range w.images[i].file.libs {
			w.load(w.images[i], lib, "")
		}
	}
	if len(w.objects) >= maxObjects {
		w.objects = append(w.objects, Object{Name: p.Path, ResolvedBy: "walk", Gap: fmt.Sprintf("more than %d objects: the rest was not followed", maxObjects)})
	}
	for _, name := range []string{"DYLD_FRAMEWORK_PATH", "DYLD_FALLBACK_FRAMEWORK_PATH", "DYLD_VERSIONED_LIBRARY_PATH", "DYLD_VERSIONED_FRAMEWORK_PATH", "DYLD_ROOT_PATH", "DYLD_IMAGE_SUFFIX"} {
		if p.variable(name) != "" {
			w.objects = append(w.objects, Object{Name: name, ResolvedBy: name, RequiredBy: path, Gap: "this variable redirects dyld's search and is not followed"})
		}
	}
	for _, entry := range m.environment {
		w.objects = append(w.objects, Object{Name: entry, ResolvedBy: "LC_DYLD_ENVIRONMENT", RequiredBy: path, Gap: "an environment built into the program can redirect dyld's search and is not followed"})
	}
	return Closure{Format: FormatMachO, Static: m.linker == "", Objects: w.objects}
}

// load brings in one library of an image.
func (w *machoWalk) load(by *machoImage, lib machoLib, rule string) {
	o := Object{Name: lib.name, RequiredBy: by.path}
	var failure error
	for _, c := range w.candidates(by, lib.name) {
		f, info, err := openRegular(c.path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				failure = err
			}
			continue
		}
		file, err := parseMachOFor(f, info.Size(), w.main.file.cpu)
		f.Close()
		if err == nil && file.cpu != w.main.file.cpu {
			err = errWrongMachine
		}
		if err != nil {
			failure = fmt.Errorf("%s: %w", c.path, err)
			continue
		}
		real, err := filepath.EvalSymlinks(c.path)
		if err != nil {
			real = c.path
		}
		if w.seen[real] {
			return
		}
		w.seen[real] = true
		o.Path, o.ResolvedBy = c.path, c.rule
		if rule != "" {
			o.ResolvedBy = rule
		}
		if lib.kind != "load" {
			o.ResolvedBy += ", " + lib.kind
		}
		w.images = append(w.images, &machoImage{file: file, path: c.path, loader: by})
		w.objects = append(w.objects, o)
		return
	}
	asked := lib.name
	if strings.HasPrefix(asked, "@") {
		asked = by.path + " asks for " + asked // stands for another path elsewhere
	}
	if w.seen[asked] {
		return
	}
	w.seen[asked] = true
	switch {
	case isSystemLibrary(lib.name):
		o.ResolvedBy = "dyld shared cache"
		if w.system.OSBuild != "" {
			o.Note = "operating system build " + w.system.OSBuild
		} else {
			o.Gap = "a library of the system's shared cache, and this is not the system that it belongs to"
		}
	case failure != nil:
		o.ResolvedBy, o.Gap = "not found", failure.Error()
	case lib.kind == "weak" || lib.kind == "lazy":
		o.ResolvedBy, o.Note = lib.kind, "absent"
	default:
		o.ResolvedBy, o.Gap = "not found", "not found"
	}
	w.objects = append(w.objects, o)
}

// isSystemLibrary reports whether a name belongs to what macOS keeps in its
// shared cache instead of in files.
func isSystemLibrary(name string) bool {
	return strings.HasPrefix(name, "/usr/lib/") || strings.HasPrefix(name, "/System/")
}

// candidate is one place to look, and the rule that names it.
type candidate struct{ path, rule string }

// candidates lists where dyld looks for a name, in its order.
func (w *machoWalk) candidates(by *machoImage, name string) []candidate {
	var list []candidate
	leaf := name[strings.LastIndex(name, "/")+1:]
	for _, dir := range splitPath(w.program.variable("DYLD_LIBRARY_PATH"), ":") {
		list = append(list, candidate{w.program.abs(dir) + "/" + leaf, "DYLD_LIBRARY_PATH"})
	}
	if rest, ok := strings.CutPrefix(name, "@rpath/"); ok {
		for im := by; im != nil; im = im.loader {
			for _, rpath := range im.file.rpaths {
				dir, _ := w.expand(im, rpath)
				list = append(list, candidate{dir + "/" + rest, "LC_RPATH"})
			}
		}
		return list
	}
	path, rule := w.expand(by, name)
	if rule == "" {
		rule = "install name"
	}
	list = append(list, candidate{path, rule})
	fallback := w.program.variable("DYLD_FALLBACK_LIBRARY_PATH")
	if fallback == "" {
		fallback = "/usr/local/lib:/usr/lib"
	}
	if !strings.HasPrefix(name, "@") {
		for _, dir := range splitPath(fallback, ":") {
			list = append(list, candidate{w.program.abs(dir) + "/" + leaf, "DYLD_FALLBACK_LIBRARY_PATH"})
		}
	}
	return list
}

// expand replaces the leading @ token of a path. The rule names the token; it
// is empty when there was none.
func (w *machoWalk) expand(im *machoImage, path string) (expanded, rule string) {
	for token, image := range map[string]*machoImage{"@executable_path": w.main, "@loader_path": im} {
		rest, ok := strings.CutPrefix(path, token)
		if ok && (rest == "" || rest[0] == '/') {
			return filepath.Dir(image.path) + rest, token
		}
	}
	return w.program.abs(path), ""
}
