package loader

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// System is what resolution depends on besides the files: the zero System knows
// no cache, no preloads and only the default directories that a loader carries
// in its own bytes.
type System struct {
	// Cache is /etc/ld.so.cache; nil when there is none.
	Cache *Cache
	// HWCaps are the glibc-hwcaps subdirectories that this processor can use,
	// best first.
	HWCaps []string
	// Preload are the entries of /etc/ld.so.preload.
	Preload []string
	// CPU picks the slice of a fat Mach-O file: arm64 or amd64, as GOARCH says.
	CPU string
	// OSBuild is the build of a Darwin system, which its shared cache belongs
	// to; empty elsewhere.
	OSBuild string
	// Gaps are the parts of the system that could not be read.
	Gaps []string
}

// Host returns the system that this program runs on. The context bounds the
// programs that it asks where there is no file to read.
func Host(ctx context.Context) *System {
	s := &System{CPU: runtime.GOARCH, OSBuild: darwinBuild()}
	if runtime.GOOS != "linux" {
		return s
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil && runtime.GOARCH == "amd64" {
		s.HWCaps = x86HWCaps(cpuFlags(string(b)))
	}
	switch b, err := os.ReadFile("/etc/ld.so.preload"); {
	case err == nil:
		s.Preload = preloadEntries(string(b))
	case !os.IsNotExist(err):
		s.Gaps = append(s.Gaps, "read /etc/ld.so.preload: "+err.Error())
	}
	b, err := os.ReadFile("/etc/ld.so.cache")
	if os.IsNotExist(err) {
		return s
	}
	if err == nil {
		s.Cache, err = ParseCache(b)
	}
	if err != nil {
		if out, execErr := exec.CommandContext(ctx, "ldconfig", "-p").Output(); execErr == nil {
			s.Cache = parseLdconfig(string(out))
		} else {
			s.Gaps = append(s.Gaps, "read /etc/ld.so.cache: "+err.Error()+"; ldconfig -p: "+execErr.Error())
		}
	}
	return s
}

// preloadEntries splits a preload list: blanks and colons separate, # starts a
// comment.
func preloadEntries(s string) []string {
	var entries []string
	for line := range strings.Lines(s) {
		line, _, _ = strings.Cut(line, "#")
		entries = append(entries, strings.FieldsFunc(line, func(r rune) bool {
			return r == ':' || r == ' ' || r == '\t' || r == '\n' || r == '\r'
		})...)
	}
	return entries
}

// cpuFlags returns the flags of the first processor in /proc/cpuinfo.
func cpuFlags(cpuinfo string) map[string]bool {
	flags := map[string]bool{}
	for line := range strings.Lines(cpuinfo) {
		name, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(name) == "flags" {
			for _, f := range strings.Fields(value) {
				flags[f] = true
			}
			break
		}
	}
	return flags
}

// x86HWCaps returns the levels of the x86-64 psABI that the flags reach, best
// first, by the flag names that Linux prints.
func x86HWCaps(flags map[string]bool) []string {
	levels := []struct {
		name  string
		needs []string
	}{
		{"x86-64-v2", []string{"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"}},
		{"x86-64-v3", []string{"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}},
		{"x86-64-v4", []string{"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
	}
	var reached []string
	for _, level := range levels {
		for _, need := range level.needs {
			if !flags[need] {
				return reached
			}
		}
		reached = append([]string{level.name}, reached...)
	}
	return reached
}
