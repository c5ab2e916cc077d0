package engine

import "sync/atomic"

// ring passes request numbers from one producer thread to one consumer thread.
// It has room for every request there is, so push never fails.
type ring struct {
	slots []uint32
	mask  uint64
	_     [64]byte
	// head is the consumer's place, tail the producer's; each on a cache line of
	// its own. seen is the consumer's copy of tail.
	head atomic.Uint64
	seen uint64
	_    [48]byte
	tail atomic.Uint64
	_    [56]byte
}

func newRing(capacity int) *ring {
	n := 1
	for n < capacity {
		n *= 2
	}
	return &ring{slots: make([]uint32, n), mask: uint64(n - 1)}
}

func (r *ring) push(v uint32) {
	t := r.tail.Load()
	r.slots[t&r.mask] = v
	r.tail.Store(t + 1)
}

func (r *ring) pop() (uint32, bool) {
	h := r.head.Load()
	if h == r.seen {
		r.seen = r.tail.Load()
		if h == r.seen {
			return 0, false
		}
	}
	v := r.slots[h&r.mask]
	r.head.Store(h + 1)
	return v, true
}

// empty tells the consumer whether nothing waits for it.
func (r *ring) empty() bool { return r.head.Load() == r.tail.Load() }
