"""Runs analysis.sql in an engine and compares its views with the tables of an
analysis, row by row: numbers to 13 significant digits, of which every report
shows fewer, and all else as it is."""
import sys
import time

import pyarrow.parquet

engine, statements, bundles, analysis, tmp = sys.argv[1:]
# What names a row, and the columns that SQL gives too.
TABLES = {
    "metrics": (["process_id", "metric"], ["suite", "cell_id", "arm", "side", "slot", "outcome", "in_median", "unit", "value"]),
    "summaries": (["suite", "cell_id", "metric", "side"], ["unit", "better", "arm", "n", "median", "min", "max"]),
    "comparisons": (["suite", "cell_id", "metric"], ["unit", "better", "n_a", "median_a", "min_a", "max_a", "n_b", "median_b", "min_b", "max_b",
                                                     "change_pct", "change_reason", "overlap", "overlap_reason"]),
}
# A change near zero is a small difference of large numbers: so many decimals.
DECIMALS = {"change_pct": 9}

begin = time.monotonic()
if engine == "duckdb":
    import duckdb

    db = duckdb.connect()
    db.execute(f"SET memory_limit = '3GB'; SET temp_directory = '{tmp}'; SET preserve_insertion_order = false; SET threads = 2")
    db.execute(f"SET VARIABLE bundles = '{bundles}'")
    db.execute(open(statements).read())
    # Read the samples once.
    db.execute("CREATE TABLE kept AS FROM pairbench_percentiles; CREATE OR REPLACE VIEW pairbench_percentiles AS FROM kept")

    def read(table):
        return [dict(zip(columns(table), row)) for row in db.execute(f"SELECT {', '.join(columns(table))} FROM pairbench_{table}").fetchall()]
else:
    from pyspark.sql import SparkSession

    spark = (SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g").config("spark.ui.enabled", "false")
             .config("spark.local.dir", tmp).config("spark.sql.shuffle.partitions", "8").config("spark.driver.bindAddress", "127.0.0.1")
             .config("spark.sql.warehouse.dir", tmp + "/warehouse").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    lines = [l for l in open(statements).read().splitlines() if not l.strip().startswith("--")]
    for statement in "\n".join(lines).split(";"):
        if statement.strip():
            spark.sql(statement)
    for view in ("percentiles", "wide", "metrics", "summaries"):
        spark.sql("CACHE TABLE pairbench_" + view)
        print(f"{time.monotonic() - begin:.1f} s: {view}", flush=True)

    def read(table):
        return [row.asDict() for row in spark.table("pairbench_" + table).select(columns(table)).collect()]


def columns(table):
    return TABLES[table][0] + TABLES[table][1]


def plain(name, v):
    """Quotients are of doubles in SQL and of integers in analyze: the last bit differs."""
    if not isinstance(v, float):
        return v
    return f"{v:.{DECIMALS[name]}f}".replace("-0.000000000", "0.000000000") if name in DECIMALS else f"{v:.12e}"


def row(r, table):
    return tuple(plain(c, r[c]) for c in TABLES[table][1])


wrong = 0
for table, (key, _) in TABLES.items():
    name = lambda r: tuple(r[k] for k in key)
    want = {name(r): row(r, table) for r in pyarrow.parquet.read_table(f"{analysis}/{table}.parquet", columns=columns(table)).to_pylist()}
    rows = read(table)
    got = {name(r): row(r, table) for r in rows}
    if not want or len(rows) != len(got):
        wrong += 1
        print("checker is broken:", table, "has", len(want), "rows to compare with,", len(rows), "rows of", len(got), "names")
    for k in want.keys() | got.keys():
        if got.get(k) != want.get(k):
            wrong += 1
            if wrong <= 10:
                print(table, k, "is", got.get(k), "want", want.get(k))
    print(f"{engine} {table}: {len(got)} rows, analyze {len(want)}")
print(f"{engine}: {time.monotonic() - begin:.1f} s, {wrong} differences")
sys.exit(wrong > 0)
