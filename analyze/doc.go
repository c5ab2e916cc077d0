// Package analyze turns sealed bundles into an analysis: report.json and the
// tables metrics, summaries and comparisons. It is offline, reads only, and is
// deterministic: the same bundles give the same bytes.
//
// The way of a number: a process's samples become its percentiles (stat), the
// process becomes one value per metric (metric), the values of an arm's
// processes become a median and a range, two medians become a change. No step
// sees the samples of two processes, and only processes whose outcome is ok
// reach a median.
package analyze
