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

// makeParent makes the directories in which out will be made. removeEmpty takes
// away again those that were not there before and into which nothing came; after
// an error there is nothing to take away.
func makeParent(out string) (removeEmpty func(), err error) {
	var made []string // the deepest first
	parent := filepath.Dir(filepath.Clean(out))
	for dir := parent; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			break
		}
		made = append(made, dir)
	}
	removeEmpty = func() {
		for _, dir := range made {
			_ = os.Remove(dir) // fails, as it should, on a directory that holds something
		}
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		removeEmpty()
		return func() {}, err
	}
	return removeEmpty, nil
}
