//go:build !linux

package engine

// emptyRequest is 0 where there is no owner loop.
func emptyRequest(string) float64 { return 0 }
