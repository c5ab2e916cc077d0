//go:build !linux

package hashlock

import (
	"errors"
	"io/fs"
	"time"
)

// mappedFiles fails: this system shows no map of another process.
func mappedFiles(int) ([]mappedFile, error) { return nil, errors.ErrUnsupported }

func changeTime(fs.FileInfo) (time.Time, bool) { return time.Time{}, false }
