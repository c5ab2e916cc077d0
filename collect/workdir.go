package collect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A collection's private directory holds jobs, builds and the services'
// directories with their keys. Its owner keeps ownerLock locked; the kernel drops
// the lock however the owner ends, and the next collection removes what has no
// owner any more.
const (
	workPrefix = "pairbench-collect-"
	ownerLock  = "owner.lock"
)

// workDir is a private directory (mode 0700).
type workDir struct {
	path string
	lock *os.File
}

// newWorkDir makes one in parent and removes those that killed collections left.
// It has its name only once it is locked, so that nobody finds it without owner.
func newWorkDir(parent string) (w workDir, err error) {
	removeAbandoned(parent)
	fresh, err := os.MkdirTemp(parent, ".new-"+workPrefix)
	if err != nil {
		return w, fmt.Errorf("collect: make a private directory: %w", err)
	}
	w.path = filepath.Join(parent, strings.TrimPrefix(filepath.Base(fresh), ".new-"))
	if w.lock, err = lockOwner(fresh, os.O_CREATE|os.O_EXCL); err == nil {
		err = os.Rename(fresh, w.path)
	}
	if err != nil {
		return workDir{}, errors.Join(fmt.Errorf("collect: make a private directory: %w", err), os.RemoveAll(fresh))
	}
	return w, nil
}

func lockOwner(dir string, flags int) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, ownerLock), os.O_RDWR|syscall.O_NOFOLLOW|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// removeAbandoned leaves alone what is not plainly a directory of ours without
// an owner.
func removeAbandoned(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		path := filepath.Join(parent, entry.Name())
		info, err := os.Lstat(path)
		if !strings.HasPrefix(entry.Name(), workPrefix) || err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Getuid() {
			continue
		}
		if lock, err := lockOwner(path, 0); err == nil {
			// What cannot be removed now is tried again by the next collection.
			_ = removeAll(path)
			lock.Close()
		}
	}
}

// remove ends the directory.
func (w workDir) remove() error {
	if w.lock == nil {
		return nil
	}
	return errors.Join(removeAll(w.path), w.lock.Close())
}
