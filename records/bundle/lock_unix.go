//go:build unix

package bundle

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// dirLock keeps two processes from writing to one bundle. It is a lock on the
// directory itself, so it leaves no file behind and ends with its process.
type dirLock struct{ dir *os.File }

func lockDir(path string) (*dirLock, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		dir.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &dirLock{dir}, nil
}

func (l *dirLock) unlock() { l.dir.Close() }
