package plan

import "fmt"

// Error is what is wrong with a plan, where, in one line. It is a fault of the
// input: commands end with the usage exit code.
type Error struct {
	File string
	// Line and Column count from 1.
	Line, Column int
	// Key is the dotted path to the value: suites[0].factors.work.
	Key      string
	Found    string
	Expected string
}

func (e *Error) Error() string {
	return fmt.Sprintf("plan %s:%d:%d: %s: found %s, expected %s",
		e.File, e.Line, e.Column, e.Key, e.Found, e.Expected)
}

// SelectionError says that a selection does not fit its plan: an unknown suite
// or service, a pattern that matches no cell, a shard out of range.
type SelectionError struct {
	Flag     string // suite, cells, rounds, scale, service, shard
	Found    string
	Expected string
}

func (e *SelectionError) Error() string {
	return fmt.Sprintf("select --%s: found %s, expected %s", e.Flag, e.Found, e.Expected)
}
