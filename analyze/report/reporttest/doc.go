// Package reporttest builds small reports of every layout for the tests of
// what reads a report: real figures beside absent ones, failed processes,
// notes of every code, and names that try to break out of where they land.
package reporttest
