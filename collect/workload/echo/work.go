package echo

// The compute step is one step of a 64-bit linear congruential generator. Each
// step needs the one before, so the work cannot be done in parallel or left out.
const (
	stepFactor = 6364136223846793005
	stepAdd    = 1442695040888963407
)

// compute takes n dependent steps from x. It is not inlined, so that every arm
// runs the same instructions.
//
//go:noinline
func compute(x uint64, n int64) uint64 {
	for range n {
		x = x*stepFactor + stepAdd
	}
	return x
}

// computed is what compute(x, n) returns, found in the logarithm of n by
// squaring the step: the check that the work was done.
func computed(x uint64, n int64) uint64 {
	factor, add := uint64(stepFactor), uint64(stepAdd)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			x = x*factor + add
		}
		add *= factor + 1
		factor *= factor
	}
	return x
}
