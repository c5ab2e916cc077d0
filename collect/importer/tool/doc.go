// Package tool reads the results of other benchmark tools, each format in a file
// of its own with one function from the bytes of a result to a table of
// observations. A decimal becomes an integer exactly, rounded half away from
// zero, never through a binary fraction.
package tool
