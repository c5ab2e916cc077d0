// Package csv writes the twins of a report's tables for programs and
// spreadsheets: RFC 4180, UTF-8, one header line, one file per suite and metric,
// and one with every process.
//
// Values are unrounded, in base units, beside the text that the report shows.
// Text of a plan or a process is kept as it is; only where a spreadsheet would
// run it as a formula does it get an apostrophe in front (and a text that starts
// with an apostrophe gets another, so that taking one off gives the text back).
package csv
