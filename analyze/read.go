package analyze

import (
	"fmt"
	"os"

	"pairbench/analyze/report"
	"pairbench/records/bag"
)

// ReadReport reads the report of an analysis, given as its directory or as its
// report.json. In a directory, which may be a stranger's, only a regular file is
// read: not what a link points at, and no pipe. A directory without one is an
// fs.ErrNotExist.
func ReadReport(path string) (*report.Report, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	var f *os.File
	if info.IsDir() {
		dir, err := bag.OpenDir(path)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		if f, _, err = dir.Open(ReportFile); err != nil {
			return nil, err
		}
	} else if f, err = os.Open(path); err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > report.MaxBytes {
		return nil, fmt.Errorf("%d bytes, at most %d are read", info.Size(), report.MaxBytes)
	}
	return report.Decode(f)
}
