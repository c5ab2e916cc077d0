-- DuckDB: the relations that analysis.sql stands on. Name the bundles first, as
-- a path or a glob of bundle directories, local or in object storage:
--   SET VARIABLE bundles = 'results/*/bundle';
--   .read duckdb.sql
--   .read analysis.sql
-- Bundles without schedules, samples or stated rates are fine: what no file has
-- is null. A pattern that matches no file is an error in DuckDB, therefore the
-- samples are picked out of all tables, of which it reads no more than the ends.
CREATE OR REPLACE VIEW pairbench_cells AS
SELECT *, regexp_extract(filename, '^(.*)/data/', 1) AS bundle
FROM read_parquet(getvariable('bundles') || '/data/cells.parquet', union_by_name = true, filename = true, hive_partitioning = false);

CREATE OR REPLACE VIEW pairbench_processes AS
SELECT NULL::BIGINT AS stated_throughput_micro_per_sec
WHERE false
UNION ALL BY NAME
SELECT *, regexp_extract(filename, '^(.*)/data/', 1) AS bundle
FROM read_parquet(getvariable('bundles') || '/data/processes.parquet', union_by_name = true, filename = true, hive_partitioning = false);

CREATE OR REPLACE VIEW pairbench_samples AS
SELECT NULL::VARCHAR AS bundle, NULL::INTEGER AS process_no, NULL::BIGINT AS seq, NULL::BIGINT AS start_ns, NULL::BIGINT AS latency_ns, NULL::BIGINT AS scheduled_ns
WHERE false
UNION ALL BY NAME
SELECT COLUMNS('^(process_no|seq|start_ns|latency_ns|scheduled_ns)$'), regexp_extract(filename, '^(.*)/data/', 1) AS bundle
FROM read_parquet(getvariable('bundles') || '/data/**/*.parquet', union_by_name = true, filename = true, hive_partitioning = false)
WHERE contains(filename, '/data/samples/');
