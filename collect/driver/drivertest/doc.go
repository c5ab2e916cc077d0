// Package drivertest is the suite that every driver must pass, whatever language
// it is written in:
//
//	drivertest.Run(t, []string{path}, drivertest.Options{Job: job})
//
// The driver is started as collect starts it, on real descriptors, and judged by
// what it says, what it writes and how it ends.
package drivertest
