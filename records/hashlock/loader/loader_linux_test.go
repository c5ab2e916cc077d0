package loader

import (
	"context"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryExecutableResolvesAsTheLoaderResolvesIt asks the loader of each
// dynamic executable of this machine for its own list and compares.
func TestEveryExecutableResolvesAsTheLoaderResolvesIt(t *testing.T) {
	system := Host(context.Background())
	if len(system.Gaps) > 0 {
		t.Fatalf("this system is not fully known: %v", system.Gaps)
	}
	programs := executables(t)
	work := make(chan string)
	var wg sync.WaitGroup
	var mu sync.Mutex
	compared, libraries := 0, 0
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for path := range work {
				n := compareWithLoader(t, system, path)
				mu.Lock()
				if n >= 0 {
					compared++
					libraries += n
				}
				mu.Unlock()
			}
		}()
	}
	for _, p := range programs {
		work <- p
	}
	close(work)
	wg.Wait()
	if compared == 0 {
		t.Fatalf("none of %d files is a dynamic executable", len(programs))
	}
	t.Logf("%d executables, %d libraries, the same as the loader's own list", compared, libraries)
}

// executables returns the real paths of all executable files in the directories
// that hold a system's programs, each once.
func executables(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	var list []string
	roots := append(filepath.SplitList(os.Getenv("PATH")), "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/games")
	for _, root := range roots {
		root, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || seen[path] {
				return nil
			}
			seen[path] = true
			if info, err := d.Info(); err == nil && info.Mode()&0o111 != 0 {
				list = append(list, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// compareWithLoader returns the number of libraries compared, -1 when the file
// is not a dynamic executable.
func compareWithLoader(t *testing.T, system *System, path string) int {
	file, info, err := openELF(path)
	if err != nil || file.interp == "" {
		return -1
	}
	if _, err := os.Stat(file.interp); err != nil {
		return -1 // made for another system, whose loader is not here to ask
	}
	p := Program{Path: path, Env: os.Environ()}
	got := resolvedPaths(system.elfClosure(p, file, info))
	want, err := askLoader(p, file.interp)
	if err != nil {
		t.Error(err)
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the loader's list (-) and ours (+) differ:\n%s", path, diff)
	}
	return len(got)
}

// askLoader returns the loader's own list. With this variable it goes through
// its work and ends before the program starts.
func askLoader(p Program, interp string) ([]string, error) {
	cmd := exec.Command(interp, p.Path)
	cmd.Env = append(slices.Clone(p.Env), "LD_TRACE_LOADED_OBJECTS=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("ask %s for the libraries of %s: %w: %s", interp, p.Path, err, out)
	}
	return listedPaths(string(out), interp), nil
}

// resolvedPaths words a closure as listedPaths words the loader's list.
func resolvedPaths(c Closure) []string {
	var lines []string
	for _, o := range c.Objects {
		switch {
		case o.ResolvedBy == "PT_INTERP":
		case o.Path == "":
			lines = append(lines, o.Name+" not found")
		default:
			lines = append(lines, o.Path)
		}
	}
	sort.Strings(lines)
	return lines
}

var listLine = regexp.MustCompile(`^\t(?:(.+) => )?(.+?)(?: \(0x[0-9a-f]+\))?$`)

// listedPaths reads the loader's list. The virtual library of the kernel and
// the loader itself are left out.
func listedPaths(out, interp string) []string {
	seen := map[string]bool{}
	lines := []string{}
	for line := range strings.Lines(out) {
		m := listLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil || strings.HasPrefix(m[2], "linux-vdso.so") || m[2] == interp || m[1] == interp {
			continue
		}
		entry := m[2]
		if entry == "not found" {
			entry = m[1] + " not found"
		}
		if entry == "statically linked" || seen[entry] {
			continue
		}
		seen[entry] = true
		lines = append(lines, entry)
	}
	sort.Strings(lines)
	if len(lines) == 0 {
		return nil
	}
	return lines
}

// TestHandmadeProgramsResolveAsTheLoaderResolvesThem puts the cases of
// TestELFClosure before the real loader: the expectations there are its own.
func TestHandmadeProgramsResolveAsTheLoaderResolvesThem(t *testing.T) {
	self, _, err := openELF("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	system := Host(context.Background())
	compared := 0
	for _, c := range elfCases() {
		if c.unlisted {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for name, spec := range c.files {
				if spec.machine == 0 && spec.class == 0 {
					spec.machine, spec.class, spec.data = self.machine, self.class, elf.ELFDATA2LSB
					c.files[name] = spec
				}
			}
			_, p := c.materialize(t, self.interp)
			file, info, err := openELF(p.Path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := askLoader(p, self.interp)
			if err != nil {
				t.Fatal(err)
			}
			got := resolvedPaths(system.elfClosure(p, file, info))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the loader's list (-) and ours (+) differ:\n%s", diff)
			}
			compared++
		})
	}
	if compared < 10 {
		t.Errorf("only %d cases were put before the loader", compared)
	}
}
