// Package stat is the pure mathematics of an analysis: nearest-rank
// percentiles over the samples of one process, medians, ranges, changes and
// overlaps of exact rationals, and exact tests and intervals for the few
// processes that an arm has.
//
// What is rounded later is computed in integers and rationals (percentile.go,
// exact.go); what is an approximation by nature, a p-value or the end of an
// interval, is a float64. No function here returns an infinity or a NaN: where
// the data are too few or the arithmetic is undefined, ok is false.
package stat
