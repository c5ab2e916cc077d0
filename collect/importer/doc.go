// Package importer turns results that other tools left into the rows of a
// bundle, marked as imported. What a file does not say stays absent; what it
// states without raw samples stays marked as stated and is never recomputed.
//
// Package tool reads what a tool wrote into a table of observations (package
// result). Here secrets are taken out before, two files become two arms after,
// and processes and cells are made of the observations.
//
// The original file is in the bundle byte for byte, with its SHA-256, unless it
// holds a secret: then the bundle holds the file with [redacted] in its place and
// every other byte as it was, the row of the file in inputs says how many were
// taken out and hashes what is kept, and nothing keeps the hash of the file as it
// was, with which a short secret could be found by trying. Everything else is read
// from the redacted file, so that tables hold no secret that the file did not
// keep.
package importer
