package engine

import (
	"fmt"
	"math/rand/v2"

	"pairbench/collect/driver"
)

// phase is the warm-up or the measured interval: the rules by which requests
// are issued, settled and counted, the same for every arm.
type phase struct {
	e        *Engine
	counts   *counts
	recorder *recorder // nil in the warm-up
	begin    func() error
	beginErr error

	// planned is the number of samples, or deadline the time after which none is
	// issued.
	planned  int64
	deadline int64
	// zero is the clock at the first submission, last the offset of the last
	// delivery.
	zero, last int64
	cpu        *int64

	arrivals arrivals
	// idle holds the places that have no request because no arrival is due.
	idle []uint32
}

func (e *Engine) newPhase(amount driver.Amount, c *counts) *phase {
	p := &phase{e: e, counts: c, planned: amount.Operations / e.config.PerSample, deadline: amount.DurationNs}
	if e.config.Arrival != ArrivalClosed {
		p.arrivals = newArrivals(e.config)
		p.idle = make([]uint32, 0, e.config.Outstanding)
	}
	return p
}

func (p *phase) open() bool { return p.arrivals.rate > 0 }

// start begins the interval: it takes the CPU clock and the zero of all offsets.
func (p *phase) start() bool {
	if p.begin != nil {
		if p.beginErr = p.begin(); p.beginErr != nil {
			return false
		}
	}
	p.cpu = ProcessCPU()
	p.zero = p.e.clock.now()
	return true
}

func (p *phase) finish() {
	if cpu, ok := processCPUNs(); ok && p.cpu != nil {
		*p.cpu = cpu - *p.cpu
	}
}

func (p *phase) now() int64 { return p.e.clock.now() - p.zero }

// elapsed is the time from the first submission to the last delivery.
func (p *phase) elapsed() int64 { return p.last }

// more tells whether another request may be issued at the offset now.
func (p *phase) more(now int64) bool {
	if p.counts.errors >= mostErrors || p.e.stuck {
		return false
	}
	if p.planned > 0 {
		return p.counts.issued < p.planned
	}
	return now < p.deadline
}

// next prepares the next request of a place, if one is due at the offset now. A
// place of an open loop without a due request becomes idle.
func (p *phase) next(no uint32, now int64) bool {
	r := &p.e.requests[no]
	if !p.open() {
		if !p.more(now) {
			return false
		}
	} else {
		if !p.more(p.arrivals.at) {
			return false
		}
		if p.arrivals.at > now {
			p.idle = append(p.idle, no)
			return false
		}
		r.scheduled = p.arrivals.at
		p.arrivals.advance()
	}
	p.counts.issued++
	r.op = p.e.nextOp
	p.e.nextOp++
	return true
}

// stamp notes the moment of submission.
func (p *phase) stamp(r *request) {
	r.start = p.now()
	r.busy = true
}

// settle counts the request as delivered now, and records it.
func (p *phase) settle(r *request) {
	now := p.now()
	p.last = now
	r.busy = false
	p.counts.done++
	if r.err != nil {
		p.fail(r)
		return
	}
	if p.recorder != nil {
		p.recorder.add(r.start, now-r.start, r.scheduled)
	}
}

func (p *phase) fail(r *request) {
	p.counts.errors++
	if p.e.first == nil {
		p.e.first = r.err
	}
	r.err = nil
}

// skipMissed counts the ticks from next on that have already passed, and returns
// the time by which to skip them. They are never made up for.
func (p *phase) skipMissed(next, tick int64) int64 {
	late := p.now() - next
	if late < 0 {
		return 0
	}
	missed := late/tick + 1
	p.counts.missedTicks += missed
	return missed * tick
}

// busy tells whether something is in flight or still to come.
func (p *phase) busy() bool {
	return p.counts.done < p.counts.issued || p.open() && p.more(p.arrivals.at)
}

// stalled tells whether a request is in flight for longer than it may be.
func (p *phase) stalled() bool {
	oldest := p.now() - int64(p.e.config.RequestLimit)
	for i := range p.e.requests {
		if r := &p.e.requests[i]; r.busy && r.start < oldest {
			return true
		}
	}
	return false
}

// abandon counts what is in flight as incomplete and ends the run.
func (p *phase) abandon() {
	p.counts.incomplete = p.counts.issued - p.counts.done
	p.e.stuck = true
	if p.e.first == nil {
		p.e.first = fmt.Errorf("no reply within %v", p.e.config.RequestLimit)
	}
}

// arrivals is the schedule of an open loop: the offset at which the next request
// should start.
type arrivals struct {
	rate    float64
	poisson bool
	random  *rand.Rand
	count   int64
	sum     float64
	at      int64
}

func newArrivals(c Config) arrivals {
	return arrivals{
		rate: c.RatePerSec, poisson: c.Arrival == ArrivalPoisson,
		random: rand.New(rand.NewPCG(uint64(c.Seed), 0x9e3779b97f4a7c15)),
	}
}

// advance moves to the next arrival. The first of both kinds is at offset 0.
func (a *arrivals) advance() {
	a.count++
	if a.poisson {
		a.sum += a.random.ExpFloat64()
		a.at = int64(a.sum / a.rate * 1e9)
	} else {
		a.at = int64(float64(a.count) / a.rate * 1e9)
	}
}
