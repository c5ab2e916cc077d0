// Package jsondoc reads the JSON that benchmark tools really write: NaN and
// Infinity stand as bare tokens, quotes inside strings are not always escaped,
// and warnings come before the first brace. Every value keeps its place in the
// file, numbers keep their digits, and memory is bounded whatever a file holds.
//
// A document is one flat list of nodes in the order of the text; a value is an
// index into it:
//
//	{"a": [1, 2]}   ->   object(4 nodes long) "a" array(3) 1 2
package jsondoc
