//go:build !linux

package engine

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
)

// openOwner refuses: without epoll the owner's arms would be other programs than
// those they are compared with.
func openOwner(e *Engine) (carrier, error) {
	return nil, fmt.Errorf("arm %s needs Linux (epoll), this is %s: use the goroutine arm", e.config.Arm, runtime.GOOS)
}

// processCPUNs reads user and system time of the process.
func processCPUNs() (int64, bool) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano(), err == nil
}

// pacer sleeps to instants of the clock.
type pacer struct{ clock clock }

func newPacer(c clock) pacer { return pacer{c} }

func (p pacer) sleepUntil(ns int64) { time.Sleep(time.Duration(ns - p.clock.now())) }
