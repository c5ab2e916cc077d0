// Package duckdbtest compares an analysis with what DuckDB computes from the
// same Parquet: its own quantile_disc, and schemas/analysis.sql. It is a module
// of its own, so that the product does not depend on DuckDB.
package duckdbtest
