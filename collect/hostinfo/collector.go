package hostinfo

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pairbench/records"
)

// maxFactBytes bounds what is read of one file: a fact is short.
const maxFactBytes = 4 << 20

// collector gathers facts from the files below root.
type collector struct {
	root  string
	facts []records.HostFact
}

// add records a fact. An empty value is recorded as an absence.
func (c *collector) add(name, value, unit, source string) {
	if value == "" {
		c.absent(name, source, "empty")
		return
	}
	f := records.HostFact{Name: name, Value: &value, Source: source}
	if unit != "" {
		f.Unit = &unit
	}
	c.facts = append(c.facts, f)
}

// absent records that a fact could not be had.
func (c *collector) absent(name, source, reason string) {
	c.facts = append(c.facts, records.HostFact{Name: name, Source: source, AbsentReason: &reason})
}

// file records the trimmed content of a file as a fact, after parse has made a
// value of it; a nil parse takes it as it is.
func (c *collector) file(name, unit, path string, parse func(string) (string, error)) {
	text, err := c.read(path)
	if err == nil && parse != nil {
		text, err = parse(text)
	}
	if err != nil {
		c.absent(name, path, reasonOf(err))
		return
	}
	c.add(name, text, unit, path)
}

// read returns the trimmed content of a file below the root.
func (c *collector) read(path string) (string, error) {
	return readTrimmed(filepath.Join(c.root, path))
}

// readTrimmed reads a file that the kernel may make as it is read.
func readTrimmed(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFactBytes))
	if err != nil {
		return "", err
	}
	return strings.Trim(string(b), " \t\r\n\x00"), nil
}

// glob returns the matching paths below the root, in the order of the numbers
// in their names, without the root.
func (c *collector) glob(pattern string) []string {
	matches, err := filepath.Glob(filepath.Join(c.root, pattern))
	if err != nil {
		return nil
	}
	for i, m := range matches {
		matches[i] = "/" + strings.TrimPrefix(strings.TrimPrefix(m, c.root), "/")
	}
	slices.SortStableFunc(matches, compareNatural)
	return matches
}

// compareNatural orders cpu2 before cpu10.
func compareNatural(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// distinct reads all files and joins the different contents in order of first
// appearance: "performance", or "powersave performance" when processors differ.
func (c *collector) distinct(name, unit, pattern string) {
	var values []string
	var lastErr error = fs.ErrNotExist
	for _, path := range c.glob(pattern) {
		v, err := c.read(path)
		if err != nil {
			lastErr = err
			continue
		}
		if v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		c.absent(name, pattern, reasonOf(lastErr))
		return
	}
	c.add(name, strings.Join(values, " "), unit, pattern)
}

// errNoValue is a file that is there and does not say.
var errNoValue = errors.New("the file does not say")

// reasonOf words an error for absent_reason; the source already stands beside
// it.
func reasonOf(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "not provided by this system"
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// fields reads "name: value" lines; the first of equal names counts.
func fields(text, separator string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, separator)
		name = strings.TrimSpace(name)
		if _, known := m[name]; ok && !known {
			m[name] = strings.TrimSpace(value)
		}
	}
	return m
}

// selected returns the bracketed word of a list such as "always [madvise] never".
func selected(text string) (string, error) {
	_, rest, ok := strings.Cut(text, "[")
	word, _, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return "", errNoValue
	}
	return word, nil
}

// kibibytes turns "16384 kB" or "32K" into bytes.
func kibibytes(text string) (string, error) {
	text = strings.TrimSpace(text)
	unit := int64(1024)
	switch {
	case strings.HasSuffix(text, " kB"), strings.HasSuffix(text, "K"):
		text = strings.TrimRight(strings.TrimSuffix(text, "B"), " kK")
	case strings.HasSuffix(text, "M"):
		text, unit = strings.TrimSuffix(text, "M"), 1<<20
	case strings.HasSuffix(text, "G"):
		text, unit = strings.TrimSuffix(text, "G"), 1<<30
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > (1<<63-1)/unit {
		return "", errNoValue
	}
	return strconv.FormatInt(n*unit, 10), nil
}

// cpuList expands "0-3,8" into the processors it names; nil when it is damaged
// or names more than can be.
func cpuList(text string) []int {
	var cpus []int
	for _, part := range strings.Split(strings.TrimSpace(text), ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		if err != nil || a < 0 {
			return nil
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(last); err != nil || b < a {
				return nil
			}
		}
		if b-a > 1<<16 || len(cpus) > 1<<16 {
			return nil
		}
		for cpu := a; cpu <= b; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}
