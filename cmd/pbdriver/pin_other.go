//go:build !linux

package main

import (
	"fmt"
	"runtime"
)

// pinProcess fails: only Linux can keep a process on given processors.
func pinProcess(cpus []int) error {
	return fmt.Errorf("pin to processors %v: not possible on %s", cpus, runtime.GOOS)
}
