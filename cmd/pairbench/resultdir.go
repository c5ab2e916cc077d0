package main

import (
	"errors"
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

// makeParent makes the directory in which out will be made. removeEmpty takes
// it away again where it was not there before and nothing came into it.
func makeParent(out string) (removeEmpty func(), err error) {
	parent := filepath.Dir(filepath.Clean(out))
	removeEmpty = func() {}
	if _, err := os.Lstat(parent); errors.Is(err, os.ErrNotExist) {
		removeEmpty = func() { _ = os.Remove(parent) } // fails, as it should, on a directory that holds something
	}
	return removeEmpty, os.MkdirAll(parent, 0o755)
}
