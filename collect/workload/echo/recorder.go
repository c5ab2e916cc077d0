package echo

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"pairbench/records"
)

const (
	sampleBytes = 16
	// overflowFactor is how many times the expected samples the recorder can
	// hold; the surplus is address space, not memory, until it is used.
	overflowFactor = 20
	// maxTouched and maxSamples bound what is touched and what is reserved.
	maxTouched = 4 << 20
	maxSamples = 1 << 30
)

// recorder keeps the samples of one process in memory that is outside the heap
// and was touched before the measured interval, so that recording allocates
// nothing and the garbage collector does not count it.
type recorder struct {
	memory   []byte
	start    []int64
	latency  []int64
	expected int
	next     atomic.Int64
}

// newRecorder returns a recorder for expected samples, and overflowFactor times
// as many where the number is only a guess.
func newRecorder(expected int64, exact bool) (*recorder, error) {
	capacity := max(expected, 1)
	if !exact {
		capacity = min(expected, maxSamples/overflowFactor) * overflowFactor
		expected = min(expected, maxTouched)
	}
	memory, err := unix.Mmap(-1, 0, int(capacity)*sampleBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve memory for %d samples: %w", capacity, err)
	}
	all := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(memory))), 2*capacity)
	r := &recorder{memory: memory, start: all[:capacity], latency: all[capacity:], expected: int(expected)}
	const page = 4096 / 8
	for i := 0; i < r.expected; i += page {
		r.start[i], r.latency[i] = 1, 1
	}
	return r, nil
}

// record takes one sample, from any thread, and reports whether there was room.
func (r *recorder) record(start, end int64) bool {
	i := r.next.Add(1) - 1
	if i >= int64(len(r.start)) {
		return false
	}
	r.start[i], r.latency[i] = start, end-start
	return true
}

// samples returns what was recorded in the order of completion. The columns
// belong to the recorder and end with it.
func (r *recorder) samples() records.Samples {
	n := min(int(r.next.Load()), len(r.start))
	s := records.Samples{StartNs: r.start[:n:n], LatencyNs: r.latency[:n:n]}
	// Threads race only for neighbouring places: insertion is linear here, and
	// needs no memory that would count as the workload's.
	for i := 1; i < n; i++ {
		start, latency := s.StartNs[i], s.LatencyNs[i]
		j := i
		for ; j > 0 && s.StartNs[j-1]+s.LatencyNs[j-1] > start+latency; j-- {
			s.StartNs[j], s.LatencyNs[j] = s.StartNs[j-1], s.LatencyNs[j-1]
		}
		s.StartNs[j], s.LatencyNs[j] = start, latency
	}
	return s
}

func (r *recorder) close() { unix.Munmap(r.memory) }
