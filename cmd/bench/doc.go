// Command bench measures pairbench beside its peers: DuckDB, sha256sum,
// redis-benchmark, a C client of MariaDB, and the C++ driver with standalone
// Asio. Both sides of a row run in turn, A B A B, as fresh processes on the same
// processor and under a time limit, and a row is the ratio of the two medians.
// No figure is a test: bench fails only when a side cannot be run, or when two
// sides that must agree on a result do not.
//
// It runs from the top of the source tree, as make bench starts it:
//
//	bench [-rounds N] [-only REGEXP] [-update FILE] [-dir DIR]
//	bench billion [-processes N] [-samples N] [-dir DIR]
//
// The subcommands write, percentiles, merge and generate are sides of rows that
// measure packages of pairbench; each prints one JSON object of figures.
package main
