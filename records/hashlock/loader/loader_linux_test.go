package loader

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	got := resolvedPaths(system.elfClosure(Program{Path: path, Env: os.Environ()}, file, info))
	// The loader goes through its list without running the program.
	out, err := exec.Command(file.interp, "--list", path).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "not found") {
		t.Errorf("%s --list %s: %v: %s", file.interp, path, err, out)
		return -1
	}
	want := listedPaths(string(out), file.interp)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the loader's list (-) and ours (+) differ:\n%s", path, diff)
	}
	return len(got)
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
