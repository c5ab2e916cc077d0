package stat

import (
	"cmp"
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

// The first counting gives each value below exactValues, some quarter of a
// millisecond in nanoseconds, a bin of its own. Longer ones share buckets, 1,024
// to a power of two: bit 42 upwards of a float64 are its exponent and the first
// ten bits of its fraction.
const (
	exactValues = 1 << 18

	keyShift = 42
	keyBase  = (1023 << (52 - keyShift))
	keyMask  = 1<<17 - 1

	// keepValues bounds the copy of the long samples that spares a second
	// reading of the file: 8 MiB, a row group of a million samples.
	keepValues = 1 << 20
	// refineBits bounds the table of one wanted bucket: 65,536 bins.
	refineBits = 16
	maxValues  = math.MaxUint32
)

func key(v int64) int {
	return int(math.Float64bits(float64(v))>>keyShift-keyBase) & keyMask
}

// Selector finds values by rank, exactly and without sorting: it counts short
// samples value by value and long ones in buckets that are narrow relative to
// their value, and counts those of the wanted buckets again, value by value. It
// holds some megabytes whatever the number of samples and is meant to be used
// for one process after another; it is not safe for concurrent use.
type Selector struct {
	n     int64
	exact [exactValues]uint32
	short span  // of the samples counted in exact
	below int64 // their number

	coarse [keyMask + 1]uint32
	long   span    // of the samples counted in coarse
	keep   []int64 // and they themselves, while kept
	kept   bool
	bins   []uint32
	target [keyMask + 1]uint16 // wanted bucket + 1
}

// span is the smallest and the largest of some samples; lo > hi for none.
type span struct{ lo, hi int64 }

var noSpan = span{math.MaxInt64, -1}

// NewSelector returns a Selector with its tables.
func NewSelector() *Selector { return &Selector{short: noSpan, long: noSpan} }

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
	window := make([]int64, 0, high-low+1)
	for v, seen := s.short.lo, int64(0); v <= s.short.hi && seen < high; v++ {
		for range min(seen+int64(s.exact[v]), high) - max(seen, low-1) {
			window = append(window, v)
		}
		seen += int64(s.exact[v])
	}
	if high > s.below {
		var err error
		if window, err = s.appendLong(window, pass, max(low, s.below+1), high); err != nil {
			return nil, 0, fmt.Errorf("select window: %w", err)
		}
	}
	return window, s.n, nil
}

// appendLong appends the samples of the ranks low to high, all of which are long.
func (s *Selector) appendLong(window []int64, pass Pass, low, high int64) ([]int64, error) {
	ends := make([]int64, 2)
	if err := s.resolve(pass, []int64{low, high}, ends); err != nil {
		return nil, err
	}
	// Samples strictly between the ends are inside; the ends fill what is left.
	var inside []int64
	until := s.below // the rank of the last sample that is not above ends[0]
	err := s.again(pass)(func(chunk []int64) error {
		for _, v := range chunk {
			switch {
			case v <= ends[0]:
				until++
			case v < ends[1]:
				inside = append(inside, v)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(inside)
	for range min(until, high) - low + 1 {
		window = append(window, ends[0])
	}
	window = append(window, inside...)
	for range high - until - int64(len(inside)) {
		window = append(window, ends[1])
	}
	return window, nil
}

// count fills the tables in one pass, and keeps the long samples while they are
// few.
func (s *Selector) count(pass Pass) error {
	s.keep, s.kept, s.n, s.below = s.keep[:0], true, 0, 0
	s.short, s.long = noSpan, noSpan
	err := pass(func(chunk []int64) error {
		s.n += int64(len(chunk))
		if s.n > maxValues {
			return fmt.Errorf("%w: more than %d", ErrTooMany, int64(maxValues))
		}
		return s.countChunk(chunk)
	})
	if err != nil {
		clear(s.exact[:]) // it may have counted anywhere
		clear(s.coarse[:])
	}
	return err
}

func (s *Selector) countChunk(chunk []int64) error {
	s.kept = s.kept && len(s.keep)+len(chunk) <= keepValues
	if !s.kept {
		s.keep = s.keep[:0]
	}
	s.keep = slices.Grow(s.keep, len(chunk))
	long := s.keep[len(s.keep) : len(s.keep)+len(chunk)]
	k, lo, hi := 0, s.short.lo, s.short.hi
	for _, v := range chunk {
		if uint64(v) < exactValues {
			s.exact[v]++
			lo, hi = min(lo, v), max(hi, v)
			continue
		}
		long[k] = v
		k++
	}
	s.short = span{lo, hi}
	s.below += int64(len(chunk) - k)
	s.keep = s.keep[:len(s.keep)+k]
	lo, hi = s.long.lo, s.long.hi
	for _, v := range long[:k] {
		s.coarse[key(v)]++
		lo, hi = min(lo, v), max(hi, v)
	}
	s.long = span{lo, hi}
	if lo < 0 {
		return fmt.Errorf("%w: %d", ErrNegative, lo)
	}
	return nil
}

// clear empties the part of the tables that was used.
func (s *Selector) clear() {
	if s.short.lo <= s.short.hi {
		clear(s.exact[s.short.lo : s.short.hi+1])
	}
	if s.long.lo <= s.long.hi {
		clear(s.coarse[key(s.long.lo) : key(s.long.hi)+1])
	}
	s.short, s.long = noSpan, noSpan
}

// again is the pass over the long samples: over those kept, or over the file
// when they were too many to keep.
func (s *Selector) again(pass Pass) Pass {
	if s.kept {
		return Slice(s.keep)
	}
	return func(yield func([]int64) error) error {
		return pass(func(chunk []int64) error {
			s.keep = slices.Grow(s.keep[:0], len(chunk))
			for _, v := range chunk {
				if v >= exactValues {
					s.keep = append(s.keep, v)
				}
			}
			return yield(s.keep)
		})
	}
}

// resolve finds the values of ranks, all from 1 to n.
func (s *Selector) resolve(pass Pass, ranks, values []int64) error {
	buckets := s.find(ranks, values)
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

// find writes the values of the ranks that fall on short samples and returns the
// buckets that hold the others, with the values that they span.
func (s *Selector) find(ranks, values []int64) []bucket {
	order := make([]int, len(ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	v, seen := s.short.lo, int64(0)
	for len(order) > 0 && ranks[order[0]] <= s.below {
		for seen+int64(s.exact[v]) < ranks[order[0]] {
			seen += int64(s.exact[v])
			v++
		}
		values[order[0]] = v
		order = order[1:]
	}
	var buckets []bucket
	k, seen := key(s.long.lo), s.below
	for _, r := range order {
		for seen+int64(s.coarse[k]) < ranks[r] {
			seen += int64(s.coarse[k])
			k++
		}
		if last := len(buckets) - 1; last < 0 || buckets[last].key != k {
			lo, hi := keyRange(k)
			buckets = append(buckets, bucket{key: k, lo: max(lo, s.long.lo), hi: min(hi, s.long.hi), before: seen})
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
	return lo, hi
}

// refine counts the samples of each bucket in bins of equal width, in one pass.
func (s *Selector) refine(pass Pass, buckets []bucket) error {
	total := 0
	sizes := make([]int, len(buckets))
	for i := range buckets {
		b := &buckets[i]
		span := uint64(b.hi - b.lo)
		if width := bits.Len64(span); width > refineBits {
			b.shift = uint(width - refineBits)
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
	if long := s.n - s.below; err == nil && n != long {
		err = fmt.Errorf("%w: %d are long, then %d", ErrChanged, long, n)
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
