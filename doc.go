// Package pairbench is the root of a record pipeline for paired benchmarks. It
// answers one question with evidence that a stranger can check: what changes
// when arm B replaces arm A?
//
//	plan -> collect -> bundle -> analyze -> report -> render
//
// Data flows one way. Package records is the model that collect writes and
// analyze reads; analyze/report is the model that analyze fills and render
// writes out; schemas holds what other programs may rely on. The command is
// cmd/pairbench, and cmd/pbdriver is the small program that is measured.
//
// The root holds no code of its own: only the tests that keep the house in
// this shape.
package pairbench
