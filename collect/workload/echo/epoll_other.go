//go:build !linux

package echo

import (
	"fmt"
	"runtime"
)

func newEpoll(_ *endpoints, p params, _ int64) (pool, error) {
	return nil, fmt.Errorf("arm %s needs epoll: not on %s", p.arm, runtime.GOOS)
}
