package loader

import (
	"debug/macho"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func load(name string) machoCommand     { return machoCommand{kind: lcLoadDylib, name: name} }
func runPath(name string) machoCommand  { return machoCommand{kind: lcRpath, name: name} }
func image(c ...machoCommand) machoSpec { return machoSpec{commands: c} }

func TestMachOClosure(t *testing.T) {
	linker := machoCommand{kind: lcLoadLinker, name: "/usr/lib/dyld"}
	cases := []struct {
		name  string
		files map[string][]byte
		env   []string
		build string
		want  []string
	}{
		{
			name: "every kind of library command",
			files: map[string][]byte{
				"app": image(
					load("@executable_path/lib/liba.dylib"),
					machoCommand{kind: lcLoadWeak, name: "@loader_path/lib/libweak.dylib"},
					machoCommand{kind: lcLoadWeak, name: "@loader_path/lib/libgone.dylib"},
					machoCommand{kind: lcReexport, name: "@loader_path/lib/libre.dylib"},
					machoCommand{kind: lcLoadUpward, name: "@loader_path/lib/libup.dylib"},
					machoCommand{kind: lcLazyLoad, name: "@loader_path/lib/liblazy.dylib"},
					machoCommand{kind: lcLoadDylib, name: "@loader_path/lib/libnew.dylib", flags: 1},
					load("@loader_path/lib/libmissing.dylib"),
				).bytes(),
				"lib/liba.dylib":    image().bytes(),
				"lib/libweak.dylib": image().bytes(),
				"lib/libre.dylib":   image().bytes(),
				"lib/libup.dylib":   image().bytes(),
				"lib/liblazy.dylib": image().bytes(),
				"lib/libnew.dylib":  image().bytes(),
			},
			want: []string{
				"DIR/lib/liba.dylib <- @executable_path",
				"DIR/lib/libweak.dylib <- @loader_path, weak",
				"@loader_path/lib/libgone.dylib <- weak [absent]",
				"DIR/lib/libre.dylib <- @loader_path, re-export",
				"DIR/lib/libup.dylib <- @loader_path, upward",
				"DIR/lib/liblazy.dylib <- @loader_path, lazy",
				"DIR/lib/libnew.dylib <- @loader_path, weak",
				"@loader_path/lib/libmissing.dylib <- not found [not found]",
			},
		},
		{
			name: "run paths of the whole loading chain, the nearest first",
			files: map[string][]byte{
				"app":                 image(load("@executable_path/lib/liba.dylib"), runPath("@executable_path/far")).bytes(),
				"lib/liba.dylib":      image(load("@rpath/libb.dylib"), load("@rpath/libc.dylib"), runPath("@loader_path/near")).bytes(),
				"lib/near/libb.dylib": image().bytes(),
				"far/libb.dylib":      image().bytes(),
				"far/libc.dylib":      image().bytes(),
			},
			want: []string{
				"DIR/lib/liba.dylib <- @executable_path",
				"DIR/lib/near/libb.dylib <- LC_RPATH",
				"DIR/far/libc.dylib <- LC_RPATH",
			},
		},
		{
			name: "a run path of another branch does not count",
			files: map[string][]byte{
				"app":          image(load("@loader_path/liba.dylib"), load("@loader_path/libb.dylib")).bytes(),
				"liba.dylib":   image(runPath("@loader_path/x")).bytes(),
				"libb.dylib":   image(load("@rpath/libx.dylib")).bytes(),
				"x/libx.dylib": image().bytes(),
			},
			want: []string{"DIR/liba.dylib <- @loader_path", "DIR/libb.dylib <- @loader_path", "@rpath/libx.dylib <- not found [not found]"},
		},
		{
			name: "libraries that need each other",
			files: map[string][]byte{
				"app":        image(load("@loader_path/liba.dylib")).bytes(),
				"liba.dylib": image(load("@loader_path/libb.dylib")).bytes(),
				"libb.dylib": image(load("@loader_path/liba.dylib"), load("@executable_path/app")).bytes(),
			},
			want: []string{"DIR/liba.dylib <- @loader_path", "DIR/libb.dylib <- @loader_path"},
		},
		{
			name: "the system's libraries belong to its build",
			files: map[string][]byte{
				"app": image(linker, load("/usr/lib/libSystem.B.dylib"), load("/System/Library/Frameworks/Security.framework/Versions/A/Security")).bytes(),
			},
			build: "23A344",
			want: []string{
				"/usr/lib/dyld <- dyld shared cache [operating system build 23A344]",
				"/usr/lib/libSystem.B.dylib <- dyld shared cache [operating system build 23A344]",
				"/System/Library/Frameworks/Security.framework/Versions/A/Security <- dyld shared cache [operating system build 23A344]",
			},
		},
		{
			name:  "away from its system a system library is a gap",
			files: map[string][]byte{"app": image(load("/usr/lib/libSystem.B.dylib")).bytes()},
			want:  []string{"/usr/lib/libSystem.B.dylib <- dyld shared cache [a library of the system's shared cache, and this is not the system that it belongs to]"},
		},
		{
			name: "the slice of the machine is followed, in libraries that of the program",
			files: map[string][]byte{
				"app": fat(false,
					machoSpec{cpu: macho.CpuAmd64, commands: []machoCommand{load("@loader_path/libintel.dylib")}},
					machoSpec{cpu: macho.CpuArm64, commands: []machoCommand{load("@loader_path/libarm.dylib")}}),
				"libarm.dylib": fat(true,
					machoSpec{cpu: macho.CpuAmd64, commands: []machoCommand{load("@loader_path/libintel.dylib")}},
					machoSpec{cpu: macho.CpuArm64, commands: []machoCommand{load("@loader_path/libthin.dylib")}}),
				"libthin.dylib": machoSpec{cpu: macho.CpuAmd64}.bytes(),
			},
			want: []string{"DIR/libarm.dylib <- @loader_path", "@loader_path/libthin.dylib <- not found [DIR/libthin.dylib: made for another machine or word size]"},
		},
		{
			name: "variables that insert and redirect",
			files: map[string][]byte{
				"app":             image(load("/opt/none/liba.dylib"), load("/opt/none/libf.dylib")).bytes(),
				"env/liba.dylib":  image().bytes(),
				"fall/libf.dylib": image().bytes(),
				"inserted.dylib":  image().bytes(),
			},
			env: []string{"DYLD_LIBRARY_PATH=DIR/env", "DYLD_INSERT_LIBRARIES=DIR/inserted.dylib", "DYLD_FALLBACK_LIBRARY_PATH=DIR/fall", "DYLD_ROOT_PATH=/x"},
			want: []string{
				"DIR/inserted.dylib <- DYLD_INSERT_LIBRARIES",
				"DIR/env/liba.dylib <- DYLD_LIBRARY_PATH",
				"DIR/fall/libf.dylib <- DYLD_FALLBACK_LIBRARY_PATH",
				"DYLD_ROOT_PATH <- DYLD_ROOT_PATH [this variable redirects dyld's search and is not followed]",
			},
		},
		{
			name: "a damaged library is a gap of its own",
			files: map[string][]byte{
				"app":        image(load("@loader_path/liba.dylib"), load("@loader_path/libb.dylib")).bytes(),
				"liba.dylib": image(load("x")).bytes()[:40],
				"libb.dylib": image().bytes(),
			},
			want: []string{"@loader_path/liba.dylib <- not found [DIR/liba.dylib: damaged: load commands at 32+32 lies outside the file of 40 bytes]", "DIR/libb.dylib <- @loader_path"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := tree(t, c.files)
			p := Program{Path: filepath.Join(dir, "app")}
			for _, e := range c.env {
				p.Env = append(p.Env, strings.ReplaceAll(e, dirMark, dir))
			}
			system := &System{CPU: "arm64", OSBuild: c.build}
			got, err := system.Closure(p)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, w := range c.want {
				want = append(want, strings.ReplaceAll(w, dirMark, dir))
			}
			if diff := cmp.Diff(want, words(got)); diff != "" {
				t.Errorf("closure (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMachOOfEveryShapeIsRead(t *testing.T) {
	for name, spec := range map[string]machoSpec{
		"64 bits little-endian": {},
		"64 bits big-endian":    {big: true},
		"32 bits little-endian": {narrow: true, cpu: macho.Cpu386},
		"32 bits big-endian":    {narrow: true, big: true, cpu: macho.CpuPpc},
	} {
		spec.commands = []machoCommand{load("liba.dylib"), runPath("@loader_path")}
		b := spec.bytes()
		f, err := parseMachO(strings.NewReader(string(b)), int64(len(b)), "arm64")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(f.libs) != 1 || f.libs[0] != (machoLib{"liba.dylib", "load"}) || len(f.rpaths) != 1 {
			t.Errorf("%s: read back as %+v", name, f)
		}
	}
}

// TestProgramsOfTheGoCompilerAreRead compares with debug/macho on what the Go
// compiler writes for macOS.
func TestProgramsOfTheGoCompilerAreRead(t *testing.T) {
	dir := tree(t, map[string][]byte{
		"main.go": []byte("package main\n\nfunc main() {}\n"),
		"go.mod":  []byte("module tiny\n\ngo 1.21\n"),
	})
	for _, arch := range []string{"arm64", "amd64"} {
		cmd := exec.Command("go", "build", "-o", "app."+arch, ".")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build for darwin/%s: %v: %s", arch, err, out)
		}
		path := filepath.Join(dir, "app."+arch)
		system := &System{CPU: arch, OSBuild: "23A344"}
		got, err := system.Closure(Program{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		f, err := macho.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.ImportedLibraries()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		want = append([]string{"/usr/lib/dyld"}, want...)
		var names []string
		for _, o := range got.Objects {
			names = append(names, o.Name)
			if o.Gap != "" {
				t.Errorf("darwin/%s: %s: %s", arch, o.Name, o.Gap)
			}
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("darwin/%s libraries (-debug/macho +ours):\n%s", arch, diff)
		}
	}
}
