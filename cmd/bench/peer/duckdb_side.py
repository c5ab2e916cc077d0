"""DuckDB's sides of the table: one JSON object of figures on stdout.

Only the statement itself is timed, as on our sides: neither the start of Python
nor the import of the library counts.
"""
import json
import os
import resource
import sys
import time

import duckdb


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(action):
    cpu_before, wall_before = cpu(), time.monotonic()
    result = action()
    return result, cpu() - cpu_before, time.monotonic() - wall_before


def clear(path):
    if os.path.exists(path):
        os.remove(path)


def quantiles(db, source):
    statement = f"""SELECT process_no, quantile_disc(latency_ns, [0.5, 0.9, 0.99, 0.999]), max(latency_ns)
        FROM {source} GROUP BY process_no"""
    rows, spent, wall = timed(lambda: db.execute(statement).fetchall())
    total = sum(sum(row[1]) + row[2] for row in rows)
    return {"in_cpu_s": spent, "in_wall_s": wall, "sum": total}


ZSTD = "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, PARQUET_VERSION v2)"


def main():
    action, threads, *args = sys.argv[1:]
    db = duckdb.connect(args.pop() if action == "native" else ":memory:")
    db.execute(f"SET threads = {threads}")
    if action == "quantiles":
        figures = quantiles(db, f"read_parquet('{args[0]}')")
    elif action == "native":
        figures = quantiles(db, "samples")
    elif action == "layout":
        # The layouts that were quickest of those tried: two columns, no
        # compression, in a Parquet file and in a database of DuckDB's own.
        source, parquet, native = args
        db.execute(f"""COPY (SELECT process_no, latency_ns FROM read_parquet('{source}'))
            TO '{parquet}' (FORMAT parquet, COMPRESSION uncompressed)""")
        db.execute(f"ATTACH '{native}' AS out")
        db.execute(f"CREATE TABLE out.samples AS SELECT process_no, latency_ns FROM read_parquet('{source}')")
        figures = {}
    elif action == "copy":
        source, target = args
        clear(target)
        db.execute(f"CREATE TABLE samples AS FROM read_parquet('{source}')")
        count, scan, _ = timed(lambda: db.execute(
            "SELECT count(*), max(process_no), max(seq), max(start_ns), max(latency_ns) FROM samples").fetchone()[0])
        _, spent, _ = timed(lambda: db.execute(f"COPY samples TO '{target}' {ZSTD}"))
        figures = {"rate": count / (spent - scan), "bytes": os.path.getsize(target) / count}
    elif action == "merge":
        target, *sources = args
        clear(target)
        _, spent, wall = timed(lambda: db.execute(f"COPY (FROM read_parquet({sources!r})) TO '{target}' {ZSTD}"))
        figures = {"in_cpu_s": spent, "in_wall_s": wall}
    else:
        raise SystemExit(f"unknown action {action}")
    print(json.dumps(figures))


main()
