# The notebook's cells. The first one, which sets REPORT and BUNDLES, is written
# by notebook.go.

# %% [markdown]
# # The report, computed anew
#
# Three independent readers load the same bundles: pandas with pyarrow, polars,
# and DuckDB. Each computes the nearest-rank percentiles of every process from its
# raw samples; medians, ranges and changes are then taken in exact fractions and
# compared with `report.json`. A number that differs stops the notebook.

# %%
import glob
import hashlib
import json
import os
from fractions import Fraction
from statistics import median

with open(REPORT, encoding="utf-8") as f:
    report = json.load(f)

identities = {}
for path in BUNDLES:
    with open(os.path.join(path, "tagmanifest-sha256.txt"), "rb") as f:
        identities[hashlib.sha256(f.read()).hexdigest()] = path
bundles = [identities[b["identity"]] for b in report["bundles"]]


def samples(bundle):
    """The sample files of a bundle; none when it was imported."""
    return sorted(glob.glob(os.path.join(bundle, "data", "samples", "*.parquet")))


PERCENTILES = {"latency_p50": (50, 100), "latency_p90": (90, 100), "latency_p99": (99, 100),
               "latency_p999": (999, 1000), "latency_max": (1, 1)}
# Of requests that had a schedule: from the instant at which it wanted them.
RESPONSES = {"response_p50": (50, 100), "response_p99": (99, 100)}


def rank(p, n):
    """The nearest rank: the smallest k with k/n >= p, from 1."""
    return max(1, -(-p[0] * n // p[1]))


# %% [markdown]
# ## From processes to tables
#
# The same few lines serve all three readers: `processes` maps a bundle and a
# process number to its row, `latency` to its percentiles.

# %%
def metrics(row, latency):
    """Every metric of one process as an exact fraction; absent ones are None."""
    def ratio(a, b, scale):
        return None if a is None or not b else Fraction(a) * scale / b

    stated = row.get("stated_throughput_micro_per_sec")  # by an imported file
    wall = row["cpu_wall_ns"]
    if wall is None:
        wall = row["process_wall_ns"] if row["cpu_scope"] == "process" else row["elapsed_ns"]
    one = row["measured_operations"] == 1
    out = {
        "run_time": Fraction(row["elapsed_ns"]) if one and row["elapsed_ns"] is not None else None,
        "throughput": ratio(row["measured_operations"], row["elapsed_ns"], 10**9) if stated is None else Fraction(stated, 10**6),
        "cpu": ratio(row["cpu_ns"], wall, 100),
        "peak_rss": None if row["peak_rss_bytes"] is None else Fraction(row["peak_rss_bytes"]),
    }
    out["cpu_efficiency"] = None
    if out["throughput"] is not None and out["cpu"]:
        out["cpu_efficiency"] = out["throughput"] * 100 / out["cpu"]
    if not latency:  # no raw samples: what the source states
        latency = {"latency_p50": row["stated_latency_p50_ns"], "latency_p99": row["stated_latency_p99_ns"]}
    for name in PERCENTILES | RESPONSES:
        value = latency.get(name)
        out[name] = None if value is None else Fraction(value)
    return out


def number(n):
    return None if n is None else Fraction(n["exact"])


def tables(processes, latency):
    """Every row of every table as the report has it, and how often we agree."""
    rows, compared = [], 0

    def same(found, stated, what):
        nonlocal compared
        compared += 1
        if found != stated:
            raise AssertionError(f"{what}: computed {found}, the report says {stated}")

    for suite in report["suites"]:
        for cell in suite["cells"]:
            for comparison in cell["comparisons"]:
                name = comparison["metric"]
                row = {"suite": suite["id"], "cell_id": cell["id"], "metric": name}
                medians = []
                for arm, side in (("a", "A"), ("b", "B")):
                    values = []
                    for p in cell["processes"]:
                        key = (p["bundle"], p["process_no"])
                        if p["side"] == side and processes[key]["outcome"] == "ok":
                            value = metrics(processes[key], latency.get(key))[name]
                            if value is not None:
                                values.append(value)
                    stated, what = comparison[arm], f"{suite['id']} {cell['id']} {name} {side}"
                    same(len(values), stated["n"], what + " n")
                    found = (median(values), min(values), max(values)) if values else (None, None, None)
                    for label, value in zip(("median", "min", "max"), found):
                        same(value, number(stated.get(label)), f"{what} {label}")
                        row[f"{arm}_{label}"] = None if value is None else float(value)
                    row[f"{arm}_n"] = len(values)
                    medians.append(found[0])
                change = None
                if None not in medians and medians[0] != 0:
                    change = (medians[1] / medians[0] - 1) * 100
                same(change, number(comparison.get("change_pct")), f"{suite['id']} {cell['id']} {name} change")
                row["change_pct"] = None if change is None else float(change)
                rows.append(row)
    print(f"{compared:,} numbers compared, all equal to the last digit")
    return rows


WANTED = ["process_no", "outcome", "measured_operations", "elapsed_ns", "cpu_ns", "cpu_wall_ns", "cpu_scope",
          "process_wall_ns", "peak_rss_bytes", "stated_latency_p50_ns", "stated_latency_p99_ns",
          "stated_throughput_micro_per_sec"]  # a bundle of an older version may lack the last


def by_process(bundle, records):
    return {(bundle, r["process_no"]): r for r in records}


# %% [markdown]
# ## pandas and pyarrow
#
# The units of the columns come from the bundle's data package and stay with the
# frame in `attrs`.

# %%
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

processes, latency, frames = {}, {}, []
for i, bundle in enumerate(bundles):
    frame = pd.read_parquet(os.path.join(bundle, "data", "processes.parquet"), dtype_backend="pyarrow")
    with open(os.path.join(bundle, "data", "datapackage.json"), encoding="utf-8") as f:
        package = json.load(f)
    for resource in package["resources"]:
        if resource["path"] == "processes.parquet":
            frame.attrs["units"] = {f["name"]: f["unit"] for f in resource["schema"]["fields"] if f.get("unit")}
    frames.append(frame)
    table = pq.read_table(os.path.join(bundle, "data", "processes.parquet"))
    processes |= by_process(i, table.select([c for c in table.column_names if c in WANTED]).to_pylist())
    for path in samples(bundle):
        table = pq.read_table(path)
        numbers, values = table["process_no"].to_numpy(), table["latency_ns"].to_numpy()
        times = [(PERCENTILES, values)]
        if "scheduled_ns" in table.column_names:
            times.append((RESPONSES, table["start_ns"].to_numpy() + values - table["scheduled_ns"].to_numpy()))
        for no in np.unique(numbers):
            found = latency[(i, int(no))] = {}
            for percentiles, values in times:
                ordered = np.sort(values[numbers == no])
                found |= {name: int(ordered[rank(p, len(ordered)) - 1]) for name, p in percentiles.items()}

result = pd.DataFrame(tables(processes, latency))
result.attrs["units"] = {m["id"]: m["unit"] for s in report["suites"] for m in s["metrics"]}
frames[0].attrs["units"] if frames else {}

# %%
result

# %% [markdown]
# ## polars

# %%
import polars as pl

processes, latency = {}, {}
for i, bundle in enumerate(bundles):
    frame = pl.read_parquet(os.path.join(bundle, "data", "processes.parquet"))
    processes |= by_process(i, frame.select(c for c in frame.columns if c in WANTED).to_dicts())
    closed, scheduled = [], []
    for path in samples(bundle):
        (scheduled if "scheduled_ns" in pl.read_parquet_schema(path) else closed).append(path)
    service, response = pl.col("latency_ns"), pl.col("start_ns") + pl.col("latency_ns") - pl.col("scheduled_ns")
    n = pl.len().cast(pl.Int64)
    for files, times in (closed, [(PERCENTILES, service)]), (scheduled, [(PERCENTILES, service), (RESPONSES, response)]):
        if files:
            found = pl.scan_parquet(files).group_by("process_no").agg(
                **{name: time.sort().get(((n * a + b - 1) // b).clip(lower_bound=1) - 1)
                   for percentiles, time in times for name, (a, b) in percentiles.items()}).collect()
            for row in found.to_dicts():
                latency[(i, row.pop("process_no"))] = row

pl.DataFrame(tables(processes, latency))

# %% [markdown]
# ## DuckDB
#
# `quantile_disc` is the nearest rank.

# %%
import duckdb

processes, latency = {}, {}
for i, bundle in enumerate(bundles):
    db = duckdb.connect()
    path = os.path.join(bundle, "data", "processes.parquet")
    columns = db.execute("SELECT list(name) FROM parquet_schema($1)", [path]).fetchone()[0]
    wanted = ", ".join(c for c in WANTED if c in columns)
    cursor = db.execute(f"SELECT {wanted} FROM read_parquet($1)", [path])
    names = [d[0] for d in cursor.description]
    processes |= by_process(i, [dict(zip(names, row)) for row in cursor.fetchall()])
    closed, scheduled = [], []
    for path in samples(bundle):
        columns = db.execute("SELECT list(name) FROM parquet_schema($1)", [path]).fetchone()[0]
        (scheduled if "scheduled_ns" in columns else closed).append(path)
    service = ("quantile_disc(latency_ns, 0.5), quantile_disc(latency_ns, 0.9), quantile_disc(latency_ns, 0.99),"
               " quantile_disc(latency_ns, 0.999), max(latency_ns)")
    response = "start_ns + latency_ns - scheduled_ns"
    response = f"quantile_disc({response}, 0.5), quantile_disc({response}, 0.99)"
    for files, columns in (closed, service), (scheduled, f"{service}, {response}"):
        if files:
            cursor = db.execute(f"SELECT process_no, {columns} FROM read_parquet($1) GROUP BY process_no", [files])
            for no, *values in cursor.fetchall():
                latency[(i, no)] = dict(zip(PERCENTILES | RESPONSES, values))

rows = tables(processes, latency)
