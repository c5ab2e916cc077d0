// Package parquetfile writes and reads the Parquet files of bundles and
// analyses. It is the only package that imports a Parquet or Arrow library.
//
// The fixed tables (samples, processes, host, inputs) and all reading go
// through parquet-go; the tables whose columns come from a plan go through
// Arrow, which also reads drivers' Arrow IPC and exports it.
//
// A samples file holds the samples of one process:
//
//	process_no INT32, seq, start_ns, latency_ns [, scheduled_ns] INT64, all REQUIRED
//	DELTA_BINARY_PACKED, zstd level 1, data pages V2 of 256 KiB with CRC
//	row groups of at most 1,048,576 rows, no row group at all when it is empty
//	process_id, suite, cell, arm, round ... in the key-value metadata
//
// A merged file holds the row groups of many such files, copied page by page,
// never two processes in one row group.
//
// A file may come from a stranger, with a hash that matches. Nothing in it is
// trusted: footer, page headers and page contents are walked and bounded before
// a decoder sees them, and a panic of a decoder becomes an error. What a reader
// accepts is less than what Parquet allows: what this package writes.
package parquetfile
