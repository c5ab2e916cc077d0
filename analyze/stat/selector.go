package stat

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Pass runs over all samples of one process, chunk by chunk, in any order. It
// can be called again and then gives the same samples. A chunk is valid only
// inside yield; an error of yield ends the pass and is returned.
type Pass func(yield func([]int64) error) error

// Slice returns the pass over values.
func Slice(values []int64) Pass {
	return func(yield func([]int64) error) error { return yield(values) }
}

// Errors of a selection, wrapped with what was found.
var (
	ErrNegative = errors.New("a sample is negative")
	ErrChanged  = errors.New("the samples changed between two passes")
	ErrTooMany  = errors.New("too many samples in one process")
)

// The first counting splits each power of two into 1,024 buckets: bit 42
// upwards of a float64 are its exponent and the first ten bits of its fraction.
// Values are taken with their lowest bit set, which spares the zero.
const (
	keyShift = 42
	keyBase  = (1023 << (52 - keyShift))
	keyMask  = 1<<17 - 1
	keyCount = 64<<(52-keyShift) + 1

	// keepValues bounds the copy that spares a second reading of the file:
	// 8 MiB, a row group of a million samples.
	keepValues = 1 << 20
	// refineBins bounds the table of one wanted bucket.
	refineBins = 1 << 16
	maxValues  = math.MaxUint32
)

func key(v int64) int {
	return int(math.Float64bits(float64(v|1))>>keyShift-keyBase) & keyMask
}

// Selector finds values by rank, exactly and without sorting: it counts the
// samples in buckets that are narrow relative to their value, and counts those
// of the wanted buckets again, value by value. It holds some megabytes whatever
// the number of samples and is meant to be used for one process after another;
// it is not safe for concurrent use.
type Selector struct {
	// Two tables, so that neighbouring equal samples do not wait for each
	// other's increment.
	even, odd [keyMask + 1]uint32
	keep      []int64
	kept      bool
	n         int64
	lo, hi    int64
	bins      []uint32
	target    [keyMask + 1]uint16 // wanted bucket + 1
}

// NewSelector returns a Selector with its tables.
func NewSelector() *Selector { return &Selector{keep: make([]int64, 0, 1<<14)} }

// bucket is a set of neighbouring values, lo to hi, that holds wanted ranks.
type bucket struct {
	key    int
	lo, hi int64
	before int64 // samples below lo
	shift  uint  // log2 of the values that share a bin
	bins   []uint32
	ranks  []int // indices of the wanted ranks
}

// Percentiles writes the value of each percentile to values, which has the
// same length, and returns the number of samples. With no samples it leaves
// values as they are.
func (s *Selector) Percentiles(pass Pass, percentiles []Percentile, values []int64) (int64, error) {
	if err := s.count(pass); err != nil {
		return 0, fmt.Errorf("select percentiles: %w", err)
	}
	defer s.clear()
	if s.n == 0 {
		return 0, nil
	}
	ranks := make([]int64, len(percentiles))
	for i, p := range percentiles {
		ranks[i] = p.Rank(s.n)
	}
	if err := s.resolve(pass, ranks, values); err != nil {
		return 0, fmt.Errorf("select percentiles: %w", err)
	}
	return s.n, nil
}

// Between returns, sorted, the samples whose ranks are from low to high, both
// counted from 1, and the number of all samples. The ranks are found from n.
func (s *Selector) Between(pass Pass, ranks func(n int64) (low, high int64)) ([]int64, int64, error) {
	if err := s.count(pass); err != nil {
		return nil, 0, fmt.Errorf("select window: %w", err)
	}
	defer s.clear()
	if s.n == 0 {
		return nil, 0, nil
	}
	low, high := ranks(s.n)
	low, high = max(low, 1), min(high, s.n)
	if low > high {
		return nil, s.n, nil
	}
	ends := make([]int64, 2)
	if err := s.resolve(pass, []int64{low, high}, ends); err != nil {
		return nil, 0, fmt.Errorf("select window: %w", err)
	}
	// Samples strictly between the ends are inside; the ends fill what is left.
	var inside []int64
	below := int64(0)
	err := s.again(pass)(func(chunk []int64) error {
		for _, v := range chunk {
			switch {
			case v > ends[0] && v < ends[1]:
				inside = append(inside, v)
			case v < ends[0]:
				below++
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("select window: %w", err)
	}
	slices.Sort(inside)
	window := make([]int64, 0, high-low+1)
	if ends[0] == ends[1] {
		for int64(len(window)) < high-low+1 {
			window = append(window, ends[0])
		}
		return window, s.n, nil
	}
	atLow, err := s.countEqual(pass, ends[0])
	if err != nil {
		return nil, 0, fmt.Errorf("select window: %w", err)
	}
	for i := low; i <= below+atLow; i++ {
		window = append(window, ends[0])
	}
	window = append(window, inside...)
	for int64(len(window)) < high-low+1 {
		window = append(window, ends[1])
	}
	return window, s.n, nil
}

func (s *Selector) countEqual(pass Pass, value int64) (int64, error) {
	n := int64(0)
	err := s.again(pass)(func(chunk []int64) error {
		for _, v := range chunk {
			if v == value {
				n++
			}
		}
		return nil
	})
	return n, err
}

// count fills the bucket tables in one pass, and keeps the samples while they
// are few.
func (s *Selector) count(pass Pass) error {
	s.keep, s.kept, s.n = s.keep[:0], true, 0
	s.lo, s.hi = math.MaxInt64, 0
	err := pass(func(chunk []int64) error {
		s.n += int64(len(chunk))
		if s.n > maxValues {
			return fmt.Errorf("%w: more than %d", ErrTooMany, int64(maxValues))
		}
		if s.kept = s.kept && s.n <= keepValues; s.kept {
			s.keep = append(s.keep, chunk...)
		}
		return s.countChunk(chunk)
	})
	if err != nil {
		s.lo, s.hi = 0, math.MaxInt64
		s.clear()
	}
	return err
}

func (s *Selector) countChunk(chunk []int64) error {
	lo, hi := s.lo, s.hi
	for ; len(chunk) >= 4; chunk = chunk[4:] {
		a, b, c, d := chunk[0], chunk[1], chunk[2], chunk[3]
		s.even[key(a)]++
		s.odd[key(b)]++
		s.even[key(c)]++
		s.odd[key(d)]++
		lo, hi = min(lo, min(a, b), min(c, d)), max(hi, max(a, b), max(c, d))
	}
	for _, v := range chunk {
		s.even[key(v)]++
		lo, hi = min(lo, v), max(hi, v)
	}
	s.lo, s.hi = lo, hi
	if lo < 0 {
		return fmt.Errorf("%w: %d", ErrNegative, lo)
	}
	return nil
}

// clear empties the part of the tables that was used.
func (s *Selector) clear() {
	if s.n == 0 {
		return
	}
	from, to := key(s.lo), key(s.hi)+1
	if s.lo <= 0 && s.hi == math.MaxInt64 {
		from, to = 0, keyMask+1 // a pass that failed may have counted anywhere
	}
	clear(s.even[from:to])
	clear(s.odd[from:to])
}

// again is the pass over the kept samples, or over the file when they were
// too many to keep.
func (s *Selector) again(pass Pass) Pass {
	if s.kept {
		return Slice(s.keep)
	}
	return pass
}

// resolve finds the values of ranks, all from 1 to n.
func (s *Selector) resolve(pass Pass, ranks, values []int64) error {
	buckets := s.find(ranks)
	for len(buckets) > 0 {
		if err := s.refine(pass, buckets); err != nil {
			return err
		}
		var next []bucket
		for i := range buckets {
			next = append(next, buckets[i].split(ranks, values)...)
		}
		buckets = next
	}
	return nil
}

// find returns the buckets that hold the ranks, with the values they span.
func (s *Selector) find(ranks []int64) []bucket {
	order := make([]int, len(ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(min(max(ranks[a]-ranks[b], -1), 1)) })
	var buckets []bucket
	k, below := key(s.lo), int64(0)
	for _, r := range order {
		for below+int64(s.even[k])+int64(s.odd[k]) < ranks[r] {
			below += int64(s.even[k]) + int64(s.odd[k])
			k++
		}
		if last := len(buckets) - 1; last < 0 || buckets[last].key != k {
			lo, hi := keyRange(k)
			buckets = append(buckets, bucket{key: k, lo: max(lo, s.lo), hi: min(hi, s.hi), before: below})
		}
		buckets[len(buckets)-1].ranks = append(buckets[len(buckets)-1].ranks, r)
	}
	return buckets
}

// keyRange returns values that enclose the bucket k: where a float64 cannot
// hold an int64 exactly, rounding moves the border by less than a bucket.
func keyRange(k int) (lo, hi int64) {
	at := func(k int) int64 {
		f := math.Float64frombits(uint64(k+keyBase) << keyShift)
		if f >= math.MaxInt64 {
			return math.MaxInt64
		}
		return int64(f)
	}
	lo, hi = at(k), at(k+1)
	if slack := lo >> 54; slack > 0 {
		lo -= slack << 1
		if hi < math.MaxInt64-slack<<1 {
			hi += slack << 1
		}
	}
	return lo &^ 1, hi // the lowest bit was set before the value was counted
}

// refine counts the samples of each bucket in bins of equal width, in one pass.
func (s *Selector) refine(pass Pass, buckets []bucket) error {
	total := 0
	sizes := make([]int, len(buckets))
	for i := range buckets {
		b := &buckets[i]
		span := uint64(b.hi - b.lo)
		if width := bits.Len64(span); width > 16 {
			b.shift = uint(width - 16)
		} else {
			b.shift = 0
		}
		sizes[i] = int(span>>b.shift) + 1
		total += sizes[i]
	}
	if cap(s.bins) < total {
		s.bins = make([]uint32, total)
	}
	s.bins = s.bins[:total]
	clear(s.bins)
	for i, at := 0, 0; i < len(buckets); i++ {
		buckets[i].bins = s.bins[at : at+sizes[i] : at+sizes[i]]
		at += sizes[i]
	}
	// Buckets of the first round have keys of their own and the target table
	// leads to them. Later rounds, for very long latencies only, may have
	// several inside one key: they are searched.
	unique := true
	for i := range buckets {
		if s.target[buckets[i].key] != 0 {
			unique = false
		}
		s.target[buckets[i].key] = uint16(i + 1)
	}
	defer func() {
		for i := range buckets {
			s.target[buckets[i].key] = 0
		}
	}()
	n := int64(0)
	err := s.again(pass)(func(chunk []int64) error {
		n += int64(len(chunk))
		if unique {
			for _, v := range chunk {
				k := key(v)
				t := s.target[k]
				if t == 0 {
					continue
				}
				b := &buckets[t-1]
				if at := uint64(v-b.lo) >> b.shift; at < uint64(len(b.bins)) {
					b.bins[at]++
				}
			}
			return nil
		}
		for _, v := range chunk {
			k := key(v)
			if s.target[k] == 0 {
				continue
			}
			for i := range buckets {
				b := &buckets[i]
				if b.key == k && v >= b.lo && v <= b.hi {
					b.bins[uint64(v-b.lo)>>b.shift]++
				}
			}
		}
		return nil
	})
	if err == nil && n != s.n {
		err = fmt.Errorf("%w: %d, then %d", ErrChanged, s.n, n)
	}
	return err
}

// split walks the bins of a counted bucket: ranks in bins of one value are
// done, the others are returned as narrower buckets.
func (b *bucket) split(ranks, values []int64) []bucket {
	var next []bucket
	at, below := 0, b.before
	for _, r := range b.ranks {
		for at < len(b.bins) && below+int64(b.bins[at]) < ranks[r] {
			below += int64(b.bins[at])
			at++
		}
		lo := b.lo + int64(at)<<b.shift
		if b.shift == 0 {
			values[r] = lo
			continue
		}
		if last := len(next) - 1; last < 0 || next[last].lo != lo {
			hi := min(b.hi, lo+(1<<b.shift-1))
			next = append(next, bucket{key: b.key, lo: lo, hi: hi, before: below})
		}
		next[len(next)-1].ranks = append(next[len(next)-1].ranks, r)
	}
	return next
}
