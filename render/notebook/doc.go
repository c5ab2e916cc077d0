// Package notebook writes a Jupyter notebook (nbformat 4) that loads bundles
// with pandas and pyarrow, with polars and with DuckDB, computes every table of
// the report anew from the raw samples in exact fractions, and compares each
// number with report.json to the last digit.
//
// Its text is analysis.py, a script in cells ("# %%") that runs outside Jupyter
// as well once the two names of its first cell are set.
package notebook
