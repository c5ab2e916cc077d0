//go:build unix

package driver

import "syscall"

// inherited checks that fd is open, and keeps programs that the driver starts
// from inheriting it.
func inherited(fd int) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	syscall.CloseOnExec(fd)
	return nil
}
