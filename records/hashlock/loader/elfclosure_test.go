package loader

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// elfCase is a program with its libraries. Paths in specs, environment and
// expectation start with DIR, which stands for the directory of the case.
type elfCase struct {
	name   string
	files  map[string]elfSpec
	links  map[string]string // new name -> existing file
	damage []string          // files to cut short
	env    []string
	// want is "path or name <- rule [note or gap]" for each object.
	want []string
	// unlisted cases are those that the loader ends with an error instead of a
	// list.
	unlisted bool
}

const dirMark = "DIR"

func elfCases() []elfCase {
	return []elfCase{
		{
			name: "run path of the program is not for what its libraries need",
			files: map[string]elfSpec{
				"app":         {needed: []string{"liba.so"}, runpath: "$ORIGIN/lib"},
				"lib/liba.so": {needed: []string{"libb.so"}},
				"lib/libb.so": {},
			},
			want: []string{"DIR/lib/liba.so <- DT_RUNPATH", "libb.so <- not found [not found]"},
		},
		{
			name: "old run path is inherited along the chain",
			files: map[string]elfSpec{
				"app":          {needed: []string{"liba.so"}, rpath: "${ORIGIN}/lib"},
				"lib/liba.so":  {needed: []string{"libb.so"}},
				"lib/libb.so":  {needed: []string{"libc1.so"}},
				"lib/libc1.so": {},
			},
			want: []string{"DIR/lib/liba.so <- DT_RPATH", "DIR/lib/libb.so <- DT_RPATH", "DIR/lib/libc1.so <- DT_RPATH"},
		},
		{
			name: "a library with its own run path inherits nothing",
			files: map[string]elfSpec{
				"app":            {needed: []string{"liba.so"}, rpath: "$ORIGIN/lib"},
				"lib/liba.so":    {needed: []string{"libb.so"}, runpath: "$ORIGIN/other"},
				"lib/libb.so":    {},
				"lib/other/x.so": {},
			},
			want: []string{"DIR/lib/liba.so <- DT_RPATH", "libb.so <- not found [not found]"},
		},
		{
			name: "both run paths: the old one is ignored",
			files: map[string]elfSpec{
				"app":         {needed: []string{"liba.so"}, rpath: "$ORIGIN/old", runpath: "$ORIGIN/new"},
				"old/liba.so": {},
				"new/liba.so": {},
			},
			want: []string{"DIR/new/liba.so <- DT_RUNPATH"},
		},
		{
			name: "environment comes before DT_RUNPATH",
			files: map[string]elfSpec{
				"app":         {needed: []string{"liba.so"}, runpath: "$ORIGIN/run"},
				"run/liba.so": {},
				"env/liba.so": {},
			},
			env:  []string{"LD_LIBRARY_PATH=DIR/nowhere;DIR/env"},
			want: []string{"DIR/env/liba.so <- LD_LIBRARY_PATH"},
		},
		{
			name: "environment comes after DT_RPATH",
			files: map[string]elfSpec{
				"app":         {needed: []string{"liba.so"}, rpath: "$ORIGIN/run"},
				"run/liba.so": {},
				"env/liba.so": {},
			},
			env:  []string{"LD_LIBRARY_PATH=DIR/env"},
			want: []string{"DIR/run/liba.so <- DT_RPATH"},
		},
		{
			name: "a library for another word size is passed over",
			files: map[string]elfSpec{
				"app":        {needed: []string{"liba.so"}, runpath: "$ORIGIN/32:$ORIGIN/64"},
				"32/liba.so": {class: elf.ELFCLASS32, machine: elf.EM_386},
				"64/liba.so": {},
			},
			want: []string{"DIR/64/liba.so <- DT_RUNPATH"},
		},
		{
			name: "a library for another machine is passed over",
			files: map[string]elfSpec{
				"app":         {needed: []string{"liba.so"}, runpath: "$ORIGIN/arm:$ORIGIN/x86"},
				"arm/liba.so": {machine: elf.EM_AARCH64},
				"x86/liba.so": {},
			},
			want: []string{"DIR/x86/liba.so <- DT_RUNPATH"},
		},
		{
			name: "libraries that need each other",
			files: map[string]elfSpec{
				"app":         {needed: []string{"liba.so"}, rpath: "$ORIGIN/lib"},
				"lib/liba.so": {needed: []string{"libb.so", "liba.so"}},
				"lib/libb.so": {needed: []string{"liba.so"}},
			},
			want: []string{"DIR/lib/liba.so <- DT_RPATH", "DIR/lib/libb.so <- DT_RPATH"},
		},
		{
			name: "a library answers to its soname",
			files: map[string]elfSpec{
				"app":            {needed: []string{"DIR/x/file.so", "libreal.so.1"}, runpath: "$ORIGIN/y"},
				"x/file.so":      {soname: "libreal.so.1"},
				"y/libreal.so.1": {},
			},
			want: []string{"DIR/x/file.so <- path"},
		},
		{
			name: "two names of one file are one object",
			files: map[string]elfSpec{
				"app":         {needed: []string{"liba.so", "libalias.so"}, runpath: "$ORIGIN/lib"},
				"lib/liba.so": {},
			},
			links: map[string]string{"lib/libalias.so": "lib/liba.so"},
			want:  []string{"DIR/lib/liba.so <- DT_RUNPATH"},
		},
		{
			name: "origin of a linked library is where the link lies",
			files: map[string]elfSpec{
				"app":           {needed: []string{"liba.so"}, runpath: "$ORIGIN/links"},
				"store/liba.so": {needed: []string{"libb.so"}, runpath: "$ORIGIN"},
				"store/libb.so": {},
				"links/libb.so": {},
			},
			links: map[string]string{"links/liba.so": "store/liba.so"},
			want:  []string{"DIR/links/liba.so <- DT_RUNPATH", "DIR/links/libb.so <- DT_RUNPATH"},
		},
		{
			name: "processor levels come first",
			files: map[string]elfSpec{
				"app":                                {needed: []string{"liba.so"}, runpath: "$ORIGIN/lib"},
				"lib/liba.so":                        {},
				"lib/glibc-hwcaps/x86-64-v2/liba.so": {},
				"lib/glibc-hwcaps/x86-64-v9/liba.so": {},
			},
			want: []string{"DIR/lib/glibc-hwcaps/x86-64-v2/liba.so <- DT_RUNPATH"},
		},
		{
			name: "preloaded libraries come before needed ones",
			files: map[string]elfSpec{
				"app":         {needed: []string{"liba.so"}, runpath: "$ORIGIN"},
				"liba.so":     {},
				"pre.so":      {needed: []string{"libb.so"}, runpath: "$ORIGIN/pre"},
				"pre/libb.so": {},
			},
			env:  []string{"LD_PRELOAD=DIR/pre.so"},
			want: []string{"DIR/pre.so <- LD_PRELOAD", "DIR/liba.so <- DT_RUNPATH", "DIR/pre/libb.so <- DT_RUNPATH"},
		},
		{
			name: "auxiliary libraries may be missing",
			files: map[string]elfSpec{
				"app":     {needed: []string{"liba.so"}, auxiliary: []string{"libgone.so"}, runpath: "$ORIGIN"},
				"liba.so": {},
			},
			want:     []string{"DIR/liba.so <- DT_RUNPATH", "libgone.so <- not found [absent]"},
			unlisted: true, // the list does not name what may be missing
		},
		{
			name: "a damaged library ends the search",
			files: map[string]elfSpec{
				"app":          {needed: []string{"liba.so"}, runpath: "$ORIGIN/bad:$ORIGIN/good"},
				"bad/liba.so":  {},
				"good/liba.so": {},
			},
			damage:   []string{"bad/liba.so"},
			want:     []string{"liba.so <- DT_RUNPATH [damaged: ELF identification at 0+16 lies outside the file of 10 bytes]"},
			unlisted: true,
		},
		{
			name: "no default directories when the file says so",
			files: map[string]elfSpec{
				"app": {needed: []string{"libc.so.6"}, flags1: uint64(elf.DF_1_NODEFLIB)},
			},
			want: []string{"libc.so.6 <- not found [not found]"},
		},
		{
			name: "a platform in the path is for the loader alone",
			files: map[string]elfSpec{
				"app": {needed: []string{"liba.so"}, runpath: "$ORIGIN/$PLATFORM"},
			},
			want:     []string{"liba.so <- DT_RUNPATH [" + errPlatform.Error() + "]"},
			unlisted: true,
		},
		{
			name: "a copy under an old processor name is for old loaders",
			files: map[string]elfSpec{
				"app":                 {needed: []string{"liba.so", "libb.so"}, runpath: "$ORIGIN"},
				"tls/haswell/liba.so": {},
				"liba.so":             {},
				"libb.so":             {},
			},
			want:     []string{"liba.so <- DT_RUNPATH [" + errLegacyCopy.Error() + "]", "DIR/libb.so <- DT_RUNPATH"},
			unlisted: true, // what the list says depends on the loader's age
		},
		{
			name: "words that only look like tokens stay",
			files: map[string]elfSpec{
				"app":               {needed: []string{"liba.so"}, runpath: "$ORIGIN/$ORIGINAL:$ORIGIN/$LIBX"},
				"$ORIGINAL/libx.so": {},
				"$LIBX/liba.so":     {},
			},
			want: []string{"DIR/$LIBX/liba.so <- DT_RUNPATH"},
		},
	}
}

// materialize writes a case to disk and returns its directory and program.
func (c elfCase) materialize(t *testing.T, interp string) (string, Program) {
	t.Helper()
	dir := tree(t, nil)
	in := func(s string) string { return strings.ReplaceAll(s, dirMark, dir) }
	for name, spec := range c.files {
		if name == "app" {
			spec.interp = interp
		}
		needed := make([]string, len(spec.needed))
		for i, n := range spec.needed {
			needed[i] = in(n)
		}
		spec.needed = needed
		b := spec.bytes()
		for _, d := range c.damage {
			if d == name {
				b = b[:10]
			}
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range c.links {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, target), path); err != nil {
			t.Fatal(err)
		}
	}
	p := Program{Path: filepath.Join(dir, "app")}
	for _, e := range c.env {
		p.Env = append(p.Env, in(e))
	}
	return dir, p
}

func TestELFClosure(t *testing.T) {
	for _, c := range elfCases() {
		t.Run(c.name, func(t *testing.T) {
			// Without an interpreter on disk only the rules of the case count.
			interp := "/no/such/ld.so"
			dir, p := c.materialize(t, interp)
			system := &System{HWCaps: []string{"x86-64-v3", "x86-64-v2"}}
			got, err := system.Closure(p)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{interp + " <- PT_INTERP [interpreter: not found]"}
			for _, w := range c.want {
				want = append(want, strings.ReplaceAll(w, dirMark, dir))
			}
			if diff := cmp.Diff(want, words(got)); diff != "" {
				t.Errorf("closure (-want +got):\n%s", diff)
			}
		})
	}
}

// words puts a closure into one line an object.
func words(c Closure) []string {
	var lines []string
	for _, o := range c.Objects {
		line := o.Path
		if line == "" {
			line = o.Name
		}
		line += " <- " + o.ResolvedBy
		if note := o.Gap + o.Note; note != "" {
			line += " [" + note + "]"
		}
		lines = append(lines, line)
	}
	return lines
}

// TestMuslGoesItsOwnWay covers where the musl loader differs: every run path is
// inherited, sonames do not count, and its own parts are never looked up.
func TestMuslGoesItsOwnWay(t *testing.T) {
	c := elfCase{files: map[string]elfSpec{
		"app":           {needed: []string{"libc.so", "liba.so", "libm.so.6", "other"}, runpath: "$ORIGIN/lib"},
		"lib/liba.so":   {needed: []string{"libb.so"}, soname: "other"},
		"lib/libb.so":   {},
		"lib/other":     {},
		"lib/libc.so":   {},
		"env/libb.so":   {},
		"lib/libm.so.6": {},
	}, env: []string{"LD_LIBRARY_PATH=DIR/env"}}
	dir, p := c.materialize(t, "/no/such/ld-musl-x86_64.so.1")
	got, err := (&System{}).Closure(p)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/no/such/ld-musl-x86_64.so.1 <- PT_INTERP [interpreter: not found]",
		dir + "/lib/liba.so <- DT_RUNPATH",
		dir + "/lib/other <- DT_RUNPATH",
		dir + "/env/libb.so <- LD_LIBRARY_PATH",
	}
	if diff := cmp.Diff(want, words(got)); diff != "" {
		t.Errorf("closure (-want +got):\n%s", diff)
	}
}

// TestEndlessGraphIsCutShort lets every library need thousands that are not
// there: the walk ends with a gap that says so.
func TestEndlessGraphIsCutShort(t *testing.T) {
	app := elfSpec{interp: "/no/such/ld.so", runpath: "$ORIGIN"}
	files := map[string][]byte{}
	for i := range 20 {
		name := fmt.Sprintf("lib%d.so", i)
		app.needed = append(app.needed, name)
		lib := elfSpec{}
		for j := range 2000 {
			lib.needed = append(lib.needed, fmt.Sprintf("missing%d.so", j))
		}
		files[name] = lib.bytes()
	}
	files["app"] = app.bytes()
	dir := tree(t, files)
	got, err := (&System{}).Closure(Program{Path: filepath.Join(dir, "app")})
	if err != nil {
		t.Fatal(err)
	}
	last := got.Objects[len(got.Objects)-1]
	if last.ResolvedBy != "walk" || !strings.Contains(last.Gap, "was not followed") {
		t.Errorf("last object %+v, want a gap that the rest was not followed", last)
	}
	app.needed = slices.Repeat([]string{"lib0.so"}, maxObjects+1)
	if err := os.WriteFile(filepath.Join(dir, "app"), app.bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := (&System{}).Closure(Program{Path: filepath.Join(dir, "app")}); !errors.Is(err, errDamaged) {
		t.Errorf("a program that needs %d libraries: error %v, want damaged", len(app.needed), err)
	}
}

func TestStaticProgramHasNoLoader(t *testing.T) {
	dir := tree(t, map[string][]byte{"app": elfSpec{}.bytes(), "text": []byte("hello")})
	system := &System{}
	got, err := system.Closure(Program{Path: filepath.Join(dir, "app")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Closure{Format: FormatELF, Static: true}, got); diff != "" {
		t.Errorf("closure (-want +got):\n%s", diff)
	}
	got, err = system.Closure(Program{Path: filepath.Join(dir, "text")})
	if err != nil {
		t.Fatal(err)
	}
	if got.Format != FormatOther {
		t.Errorf("format of a text file is %q, want %q", got.Format, FormatOther)
	}
}

func TestEveryClassAndByteOrderIsRead(t *testing.T) {
	for _, spec := range []elfSpec{
		{class: elf.ELFCLASS64, data: elf.ELFDATA2LSB, machine: elf.EM_AARCH64},
		{class: elf.ELFCLASS64, data: elf.ELFDATA2MSB, machine: elf.EM_S390},
		{class: elf.ELFCLASS32, data: elf.ELFDATA2LSB, machine: elf.EM_386},
		{class: elf.ELFCLASS32, data: elf.ELFDATA2MSB, machine: elf.EM_PPC},
	} {
		spec.interp, spec.soname, spec.needed, spec.runpath = "/lib/ld.so", "self.so", []string{"liba.so", "libb.so"}, "$ORIGIN"
		b := spec.bytes()
		f, err := parseELF(strings.NewReader(string(b)), int64(len(b)))
		if err != nil {
			t.Errorf("%v %v: %v", spec.class, spec.data, err)
			continue
		}
		if f.interp != spec.interp || f.soname != spec.soname || len(f.needed) != 2 || f.needed[1].name != "libb.so" || f.runpath == nil || *f.runpath != "$ORIGIN" || f.machine != spec.machine {
			t.Errorf("%v %v: read back as %+v", spec.class, spec.data, f)
		}
	}
}
