"""Reads every table with pyarrow, polars, pandas and DuckDB and compares names,
types, units, nulls and values with those of pairbench's own reader."""
import datetime
import json
import struct
import sys

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
failures = 0


def fail(*words):
    global failures
    failures += 1
    if failures <= 200:
        print("FAIL", *words)


def plain(v, typ):
    """The text that pairbench's reader writes for the value."""
    if v is None or v is pandas.NA or v is pandas.NaT:
        return None
    if typ in ("int32", "int64"):
        return str(int(v)) if not isinstance(v, float) else "a float"
    if typ == "double":
        return struct.pack(">d", v).hex()
    if typ == "boolean":
        return bool(v)
    if typ == "binary":
        return bytes(v).hex()
    if typ == "timestamp_us_utc":
        if isinstance(v, pandas.Timestamp):
            return str(v.tz_convert("UTC").value // 1000)
        return str((v.astimezone(UTC) - EPOCH) // datetime.timedelta(microseconds=1))
    return v


def by_pyarrow(files, columns):
    t = pyarrow.concat_tables(pyarrow.parquet.read_table(f) for f in files)
    schema = pyarrow.parquet.read_schema(files[0])
    return t.column_names, [str(f.type) for f in t.schema], zip(*(c.to_pylist() for c in t.columns)), schema


def by_polars(files, columns):
    t = polars.read_parquet(files)
    return t.columns, [str(x) for x in t.dtypes], t.rows(), None


def by_pandas(files, columns):
    frames = [pandas.read_parquet(f, dtype_backend="numpy_nullable") for f in files]
    t = pandas.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    types = [str(x) for x in t.dtypes]
    return list(t.columns), types, zip(*(t[c].tolist() for c in t.columns)), None


def by_duckdb(files, columns):
    t = duckdb.sql("SELECT * FROM read_parquet(" + repr(files) + ")")
    return t.columns, [str(x) for x in t.types], t.fetchall(), None


# What each reader calls a type of the dictionary.
TYPES = {
    by_pyarrow: {"int32": ["int32"], "int64": ["int64"], "double": ["double"], "boolean": ["bool"], "string": ["string"],
                 "binary": ["binary"], "timestamp_us_utc": ["timestamp[us, tz=UTC]"]},
    by_polars: {"int32": ["Int32"], "int64": ["Int64"], "double": ["Float64"], "boolean": ["Boolean"], "string": ["String"],
                "binary": ["Binary"], "timestamp_us_utc": ["Datetime(time_unit='us', time_zone='UTC')"]},
    by_pandas: {"int32": ["Int32"], "int64": ["Int64"], "double": ["Float64"], "boolean": ["boolean"], "string": ["string", "str"],
                "binary": ["object"], "timestamp_us_utc": ["datetime64[us, UTC]"]},
    by_duckdb: {"int32": ["INTEGER"], "int64": ["BIGINT"], "double": ["DOUBLE"], "boolean": ["BOOLEAN"], "string": ["VARCHAR"],
                "binary": ["BLOB"], "timestamp_us_utc": ["TIMESTAMP WITH TIME ZONE"]},
}


def compare(table, reader):
    what = f"{reader.__name__[3:]} {table['files'][0]}"
    names, types, rows, schema = reader(table["files"], table["columns"])
    want = [c["name"] for c in table["columns"]]
    if sorted(names) != sorted(want):
        return fail(what, "columns", names, "want", want)
    for name, typ in zip(names, types):
        declared = next(c["type"] for c in table["columns"] if c["name"] == name)
        if typ not in TYPES[reader][declared]:
            fail(what, name, "is", typ, "want", TYPES[reader][declared])
    if schema is not None:
        for c in table["columns"]:
            unit = (schema.field(c["name"]).metadata or {}).get(b"unit", b"").decode()
            if unit != (c["unit"] or ""):
                fail(what, c["name"], "has the unit", repr(unit), "want", repr(c["unit"]))
    order = [names.index(n) for n in want]
    got = [[plain(row[i], c["type"]) for i, c in zip(order, table["columns"])] for row in rows]
    expected = table["rows"]
    if table["sort_by"]:
        key = lambda row: [int(v) for v in row[: table["sort_by"]]]
        got, expected = sorted(got, key=key), sorted(expected, key=key)
    if len(got) != len(expected):
        return fail(what, len(got), "rows, want", len(expected))
    for i, (g, w) in enumerate(zip(got, expected)):
        if g != w:
            for name, x, y in zip(want, g, w):
                if x != y:
                    fail(what, "row", i, name, "is", repr(x), "want", repr(y))


tables = json.load(open(sys.argv[1]))
for table in tables:
    for reader in TYPES:
        compare(table, reader)
print(len(tables), "tables,", sum(len(t["rows"]) for t in tables), "rows,", len(TYPES), "readers,", failures, "failures")
sys.exit(failures > 0)
