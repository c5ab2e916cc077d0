package parquetfile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
)

// TestUnpackDeltaEqualsTheLibrary unpacks what the library packed, over every
// width of a value that is not negative and sizes around those of blocks.
func TestUnpackDeltaEqualsTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var encoding delta.BinaryPackedEncoding
	for width := range 64 {
		for _, size := range []int{1, 2, 32, 33, 128, 129, 130, 161, 257, 1000} {
			values := make([]int64, size)
			for i := range values {
				values[i] = int64(random.Uint64() >> (64 - width))
			}
			page, err := encoding.EncodeInt64(nil, values)
			if err != nil {
				t.Fatal(err)
			}
			got, err := unpackDelta(nil, page, size, slices.Min(values), slices.Max(values))
			if err != nil || !slices.Equal(got, values) {
				t.Fatalf("width %d, %d values: %v, %v; expected %v", width, size, err, got, values)
			}
			for cut := range min(len(page), 64) {
				if _, err := unpackDelta(nil, page[:len(page)-1-cut], size, 0, math.MaxInt64); err == nil {
					t.Fatalf("width %d, %d values: a page without its last %d bytes is accepted", width, size, cut+1)
				}
			}
			if _, err := unpackDelta(nil, append(page, 0), size, 0, math.MaxInt64); err == nil {
				t.Fatalf("width %d, %d values: a byte behind the page is accepted", width, size)
			}
		}
	}
}

func TestUnpackDeltaHoldsValuesToTheirRange(t *testing.T) {
	var encoding delta.BinaryPackedEncoding
	for _, c := range []struct {
		values    []int64
		low, high int64
	}{
		{[]int64{5}, 6, 9}, {[]int64{10}, 6, 9}, {[]int64{7, 8, 10}, 6, 9}, {[]int64{7, -1, 8}, 0, 9},
		{[]int64{7, math.MinInt64, 8}, 0, math.MaxInt64}, {[]int64{math.MaxInt64, 3}, 3, math.MaxInt64 - 1},
	} {
		page, err := encoding.EncodeInt64(nil, c.values)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unpackDelta(nil, page, len(c.values), c.low, c.high); err == nil {
			t.Errorf("%v pass for values from %d to %d: %v", c.values, c.low, c.high, got)
		}
	}
}
