//go:build !linux && !darwin

package hostinfo

import (
	"context"
	"runtime"
)

// systemFacts records the little that the Go runtime knows of any system.
func (c *collector) systemFacts(context.Context) {
	c.add("machine.arch", runtime.GOARCH, "", "runtime.GOARCH")
	c.add("kernel.name", runtime.GOOS, "", "runtime.GOOS")
	c.add("go.version", runtime.Version(), "", "runtime.Version")
	for _, name := range identifying {
		c.absent(name, runtime.GOOS, "not looked up on this system")
	}
}

func load1Milli() (int64, bool) { return 0, false }
