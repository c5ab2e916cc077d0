package echo

import (
	"sync"
	"sync/atomic"
	"time"

	"pairbench/collect/driver"
)

// phase is the warm-up or the measurement: it hands out permits and takes what
// came of them. All times are ns since its start.
type phase struct {
	start    time.Time
	perPass  int64 // operations a permit stands for
	deadline int64 // last moment for a permit; 0: counted
	permits  atomic.Int64
	stopped  atomic.Bool // nothing is delivered any more
	recorder *recorder   // nil: nothing is recorded

	delivered atomic.Int64 // permits that came to a good end
	errors    atomic.Int64 // operations that failed
	lost      atomic.Int64 // operations without an answer

	mu    sync.Mutex
	first error
}

func newPhase(amount driver.Amount, perPass int64, r *recorder) *phase {
	p := &phase{perPass: perPass, deadline: amount.DurationNs, recorder: r}
	p.permits.Store(amount.Operations / perPass)
	return p
}

// begin sets time zero.
func (p *phase) begin() { p.start = time.Now() }

func (p *phase) now() int64 { return int64(time.Since(p.start)) }

// permit says whether one more pass may start.
func (p *phase) permit() bool {
	if p.stopped.Load() {
		return false
	}
	if p.deadline > 0 {
		return p.now() < p.deadline
	}
	return p.permits.Add(-1) >= 0
}

// deliver ends a pass that started at start, and was good, now.
func (p *phase) deliver(start int64) {
	end := p.now()
	if p.recorder != nil {
		if !p.recorder.record(start, end) {
			p.fail(p.perPass, errFull)
			return
		}
	}
	p.delivered.Add(1)
}

// fail counts operations that failed and keeps the first cause.
func (p *phase) fail(operations int64, cause error) {
	p.errors.Add(operations)
	p.note(cause)
}

// lose counts operations that got no answer in time.
func (p *phase) lose(operations int64, cause error) {
	p.lost.Add(operations)
	p.note(cause)
}

// loseRest counts the operations of permits that nobody could take.
func (p *phase) loseRest() {
	if rest := p.permits.Load(); p.deadline == 0 && rest > 0 {
		p.lost.Add(rest * p.perPass)
	}
}

func (p *phase) note(cause error) {
	p.mu.Lock()
	if p.first == nil {
		p.first = cause
	}
	p.mu.Unlock()
}

// wait reports whether done was closed before nothing had been delivered for as
// long as stall.
func (p *phase) wait(done <-chan struct{}, stall time.Duration) bool {
	tick := time.NewTicker(stall)
	defer tick.Stop()
	seen := p.delivered.Load()
	for {
		select {
		case <-done:
			return true
		case <-tick.C:
			now := p.delivered.Load()
			if now == seen {
				return false
			}
			seen = now
		}
	}
}
