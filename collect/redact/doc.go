// Package redact is the one place that knows secrets: what a name has to be
// called to hold one, and where they stand in a text. What is collected, what is
// imported and what is said of either goes through it before it is written.
package redact
