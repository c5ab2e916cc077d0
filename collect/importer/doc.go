// Package importer turns results that other tools left into the rows of a
// bundle, marked as imported. What a file does not say stays absent; what it
// states without raw samples stays marked as stated and is never recomputed.
//
// Each format is one file with one function from the bytes of a result to a
// Table of observations; build.go makes processes and cells of them.
package importer
