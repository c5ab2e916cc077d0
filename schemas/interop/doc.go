// Package interop holds tests only: what pairbench writes, read by programs
// that share no code with it. They are Python's bagit, pyarrow, polars, pandas,
// DuckDB and Spark, hyparquet in node, sha256sum and tar. Python is the one in
// PAIRBENCH_PYTHON, otherwise .venv/bin/python, where make prepare installs
// everything.
package interop
