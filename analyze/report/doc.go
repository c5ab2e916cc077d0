// Package report is the pure model of a report and its JSON form: the seam
// between analyze, which fills it, and render, which turns it into bytes and
// computes no statistics.
//
// Every number that will be rounded is an exact rational (Number), because
// rounding happens once, last, in render. Texts that the project itself says
// are not here: the model carries codes and values, and render has the words.
// Texts of a plan travel in all their languages.
package report
