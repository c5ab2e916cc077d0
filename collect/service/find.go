package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"pairbench/collect/proc"
)

// serverDirs are where distributions keep servers that are not on every PATH.
var serverDirs = [...]string{"/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"}

// findServer returns the spec's own program, or the first of names found on the
// PATH or in serverDirs.
func (s Spec) findServer(names []string, debianPackage string) (string, error) {
	if s.Program != "" {
		return proc.Resolve(s.Program)
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		for _, dir := range serverDirs {
			if err == nil {
				break
			}
			path, err = exec.LookPath(filepath.Join(dir, name))
		}
		if err == nil {
			return filepath.Abs(path)
		}
		if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find %s: %w", name, err)
		}
	}
	return "", &MissingError{Programs: names, DebianPackage: debianPackage}
}

// MissingError is returned when no program that a managed service needs is
// found.
type MissingError struct {
	Programs []string
	// DebianPackage brings one of them.
	DebianPackage string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not on the PATH; on Debian it comes with: apt-get install %s",
		strings.Join(e.Programs, " or "), e.DebianPackage)
}
