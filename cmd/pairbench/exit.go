package main

import (
	"errors"
	"fmt"

	"pairbench/records/bundle"
)

// The exit codes: one table, never renumbered.
const (
	exitOK           = 0
	exitFailure      = 1
	exitUsage        = 2
	exitIntegrity    = 3
	exitFailedData   = 4 // collected, but a process failed or is incomplete
	exitRegression   = 5
	exitInconclusive = 6
	exitInterrupted  = 130
)

// errInterrupted marks an error that a signal caused.
var errInterrupted = errors.New("interrupted")

// usageError is a command line or a plan that the user has to change.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// outcomeError carries the exit code of a command that did its work and has bad
// news. An empty text prints nothing: the command has already said it.
type outcomeError struct {
	code int
	text string
}

func (e outcomeError) Error() string { return e.text }

// exitCode is the one place where an error becomes an exit code.
func exitCode(err error) int {
	var outcome outcomeError
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &outcome):
		return outcome.code
	case errors.As(err, &usage), isBadPlan(err), errors.Is(err, bundle.ErrNoBundle):
		return exitUsage
	case isIntegrity(err):
		return exitIntegrity
	default:
		return exitFailure
	}
}
