package engine

import "iter"

// callbacks is the arm whose requests carry a completion function that the
// owner calls.
type callbacks struct {
	owner *owner
	phase *phase
	done  []func()
}

func (c *callbacks) prepare(p *phase) {
	c.phase = p
	c.done = make([]func(), len(c.owner.e.requests))
	for i := range c.done {
		no := uint32(i)
		r := &c.owner.e.requests[i]
		c.done[i] = func() {
			p.settle(r)
			if p.next(no, p.last) {
				c.owner.submit(p, no)
			}
		}
	}
}

func (c *callbacks) kick(no uint32) {
	if c.phase.next(no, c.phase.now()) {
		c.owner.submit(c.phase, no)
	}
}

func (c *callbacks) deliver(no uint32) { c.done[no]() }

func (c *callbacks) end() {}

// coroutines is the arm with one coroutine for each request in flight, which the
// owner resumes.
type coroutines struct {
	owner  *owner
	resume []func() (struct{}, bool)
	stop   []func()
}

func (c *coroutines) prepare(p *phase) {
	for i := range c.owner.e.requests {
		no := uint32(i)
		resume, stop := iter.Pull(func(yield func(struct{}) bool) { c.body(p, no, yield) })
		resume()
		c.resume = append(c.resume, resume)
		c.stop = append(c.stop, stop)
	}
}

// body waits until it is kicked, and then issues, awaits and settles one request
// after the other.
func (c *coroutines) body(p *phase, no uint32, yield func(struct{}) bool) {
	r := &c.owner.e.requests[no]
	for yield(struct{}{}) {
		for now := p.now(); p.next(no, now); now = p.last {
			c.owner.submit(p, no)
			if !yield(struct{}{}) {
				return
			}
			p.settle(r)
		}
	}
}

func (c *coroutines) kick(no uint32) { c.resume[no]() }

func (c *coroutines) deliver(no uint32) { c.resume[no]() }

func (c *coroutines) end() {
	for _, stop := range c.stop {
		stop()
	}
}
