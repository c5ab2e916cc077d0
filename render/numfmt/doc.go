// Package numfmt writes exact numbers the way a profile asks for: scale,
// decimals, trailing zeros, grouping, sign. It is the only place of the project
// where a number is rounded, always half away from zero and on the exact value.
//
// What it writes it can read back: Parse is the inverse of Format up to the
// decimals that were kept, so that tests can compare tables by value.
package numfmt
