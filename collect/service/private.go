package service

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// privatePrefix begins the name of every private directory, lockName is the
// file in it that its collector keeps locked. The kernel drops the lock when the
// collector ends, however it ends: a directory whose lock can be had is nobody's.
const (
	privatePrefix = "pairbench-service-"
	lockName      = "owner.lock"
)

// privateDir is a directory (mode 0700) of one server.
type privateDir struct {
	path string
	lock *os.File
}

// newPrivateDir makes one in parent, after it has removed those that killed
// collectors left there.
func newPrivateDir(parent string) (*privateDir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, fmt.Errorf("make a private directory: %w", err)
	}
	removeAbandoned(parent)
	// The directory gets its final name once it is locked, so that no other
	// collector finds it without an owner.
	fresh, err := os.MkdirTemp(parent, ".new-"+privatePrefix)
	if err != nil {
		return nil, fmt.Errorf("make a private directory: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(fresh, lockName), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	path := filepath.Join(parent, filepath.Base(fresh)[len(".new-"):])
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		lock.Close()
		os.RemoveAll(fresh)
		return nil, fmt.Errorf("make a private directory: %w", err)
	}
	return &privateDir{path: path, lock: lock}, nil
}

func (d *privateDir) file(name string) string { return filepath.Join(d.path, name) }

// write makes a file that only its owner can read.
func (d *privateDir) write(name string, content []byte) (string, error) {
	path := d.file(name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return path, nil
}

func (d *privateDir) remove() error {
	err := os.RemoveAll(d.path)
	return errors.Join(err, d.lock.Close())
}

// removeAbandoned removes directories of this user in parent whose collector
// is gone. What cannot be removed, or is not plainly ours, is left.
func removeAbandoned(parent string) {
	found, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range found {
		if !strings.HasPrefix(entry.Name(), privatePrefix) {
			continue
		}
		path := filepath.Join(parent, entry.Name())
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Getuid() {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.RemoveAll(path)
		}
		lock.Close()
	}
}
