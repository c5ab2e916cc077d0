package main

import (
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// terminalWidth is what everything printed for people fits into.
const terminalWidth = 80

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// newResultDir names a directory of its own under ./pairbench-results.
func newResultDir(word string, now time.Time) string {
	name := unsafeInName.ReplaceAllString(filepath.Base(word), "-")
	return filepath.Join("pairbench-results", name+"-"+now.UTC().Format("20060102T150405.000Z"))
}

// makeParent makes the directory in which out will be made.
func makeParent(out string) error { return os.MkdirAll(filepath.Dir(filepath.Clean(out)), 0o755) }
