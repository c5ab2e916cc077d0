"""Parses analysis.sql and the relations of engines that are not run here in
their own dialects, and resolves every column that a view reads against the
columns of what it stands on."""
import logging
import sys

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.optimizer.qualify import qualify

logging.disable()  # what it does not know is refused below
RELATIONS = {
    "pairbench_cells": {"cell_id", "suite"},
    "pairbench_processes": {
        "process_no", "process_id", "suite", "cell_id", "arm", "side", "round", "slot", "outcome", "measured_operations", "elapsed_ns",
        "cpu_ns", "cpu_wall_ns", "cpu_scope", "process_wall_ns", "peak_rss_bytes", "stated_latency_p50_ns", "stated_latency_p99_ns",
        "stated_throughput_micro_per_sec"},
    "pairbench_samples": {"process_no", "seq", "start_ns", "latency_ns", "scheduled_ns"},
}
VIEWS = ["percentiles", "wide", "metric_names", "metrics", "summaries", "comparisons"]


def check(dialect, relations, analysis):
    """Returns how many columns were resolved; raises SqlglotError or ValueError."""
    known = {}
    resolved = 0
    for text in (relations, analysis):
        for statement in sqlglot.parse(text, dialect=dialect, error_level=ErrorLevel.RAISE):
            if statement is None or isinstance(statement, exp.Set):
                continue
            if not isinstance(statement, exp.Create):
                raise ValueError(f"{dialect} takes this for {type(statement).__name__}: {statement.sql(dialect=dialect)[:80]}")
            if isinstance(statement.this, exp.Schema):  # a table with declared columns
                known[statement.this.this.name] = {c.name: "text" for c in statement.this.expressions}
                continue
            name, query = statement.this.name, statement.expression
            for source in list(query.find_all(exp.Table)):
                if isinstance(source.this, exp.Func):  # ClickHouse: FROM file(place, format, 'name type, ...')
                    declared = list(source.find_all(exp.Literal))[-1].this
                    known[name + "_files"] = {c.split()[0]: "text" for c in declared.split(",")}
                    source.replace(exp.to_table(name + "_files"))
            for source in list(known):
                if source.endswith("_files"):
                    known[source] |= {"_path": "text", "$path": "text"}  # columns that the engines add
            full = qualify(query.copy(), schema={n: dict(c) for n, c in known.items()}, dialect=dialect, validate_qualify_columns=True)
            known[name] = {c: "text" for c in full.named_selects if c not in ("_path", "$path")}
            resolved += len(list(full.find_all(exp.Column)))
    for name, columns in RELATIONS.items():
        if missing := (columns | {"bundle"}) - known.get(name, {}).keys():
            raise ValueError(f"{dialect}: {name} lacks {sorted(missing)}")
    for view in VIEWS:
        if "pairbench_" + view not in known:
            raise ValueError(f"{dialect}: no view pairbench_{view}")
    return resolved


dialect, relations, analysis = sys.argv[1], open(sys.argv[2]).read(), open(sys.argv[3]).read()
print(f"{dialect}: {check(dialect, relations, analysis)} columns resolved")
for damage, text in (("a word too many", analysis.replace("GROUP BY bundle", "GROUP BY BY bundle", 1)),
                     ("an unknown column", analysis.replace("p.peak_rss_bytes", "p.peak_rss_kibibytes", 1)),
                     ("another statement", analysis + ";\nVACUUM FULL pairbench_cells")):
    try:
        check(dialect, relations, text)
    except (SqlglotError, ValueError):
        continue
    sys.exit(f"checker is broken: {dialect} takes {damage}")
