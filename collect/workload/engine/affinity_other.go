//go:build !linux

package engine

import (
	"errors"
	"runtime"
)

func pinProcess([]int) error {
	return errors.New("placement needs Linux, this is " + runtime.GOOS)
}

func heldCPUs() ([]int, bool) { return nil, false }
