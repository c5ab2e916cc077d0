// Package layout builds the neutral document that every format writes: sections
// of paragraphs, tables with typed cells, figures and notes, made once from a
// report and a language. The formats decide how a table looks, never what is in
// it.
//
// Text of a plan or a process enters a document only through Visible, so that
// what a document holds is safe to print anywhere once the format's own
// characters are escaped. Data that must stay as it was is taken from the report
// itself (package csv).
package layout
