package hashlock

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// mappedFiles returns the files that a process has mapped with the right to
// execute, each once, in the order of the map.
func mappedFiles(pid int) ([]mappedFile, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	return parseMaps(b), nil
}

// parseMaps reads /proc/PID/maps:
//
//	7f3c00000000-7f3c00021000 r-xp 00000000 fe:01 1234   /usr/lib/libc.so.6
func parseMaps(b []byte) []mappedFile {
	var files []mappedFile
	seen := map[string]bool{}
	for line := range bytes.Lines(b) {
		fields := bytes.Fields(line)
		if len(fields) < 6 || len(fields[1]) != 4 || fields[1][2] != 'x' || fields[5][0] != '/' {
			continue
		}
		path := strings.TrimSuffix(string(line[bytes.IndexByte(line, '/'):]), "\n")
		path, deleted := strings.CutSuffix(path, " (deleted)")
		path = strings.ReplaceAll(path, `\012`, "\n")
		if !seen[path] {
			seen[path] = true
			files = append(files, mappedFile{path: path, deleted: deleted})
		}
	}
	return files
}

// changeTime is when contents or attributes of a file last changed, which no
// program can set back.
func changeTime(info fs.FileInfo) (time.Time, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(st.Ctim.Unix()), true
}
