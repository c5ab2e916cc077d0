package echo

import (
	"sync"
	"time"
)

// lane is one goroutine that asks: pass writes what the exchange has begun,
// takes the reply, and returns an error when the connection is of no use any
// more.
type lane struct {
	*exchange
	pass func() error
}

// lanes is the asking side of every arm whose goroutines block.
type lanes struct {
	all []lane
	// interrupt makes every pass that waits return.
	interrupt func()
}

func (l *lanes) run(p *phase, stall time.Duration) {
	var asking sync.WaitGroup
	for _, one := range l.all {
		one.phase = p
		asking.Go(func() {
			for one.begin() {
				if err := one.pass(); err != nil {
					one.broken(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		asking.Wait()
		close(done)
	}()
	if !p.wait(done, stall) {
		p.stopped.Store(true)
		l.interrupt()
		<-done
	}
}
