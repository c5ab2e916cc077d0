// Package importer turns results that other tools left into the rows of a
// bundle, marked as imported. What a file does not say stays absent; what it
// states without raw samples stays marked as stated and is never recomputed.
//
// Package tool reads what a tool wrote into a table of observations (package
// result). Here secrets are taken out before, two files become two arms after,
// and processes and cells are made of the observations.
package importer
