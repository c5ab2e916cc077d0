-- ClickHouse: the relations that analysis.sql stands on. Replace ${bundles} by
-- a path or glob of bundle directories under user_files_path (or file() by
-- s3()). Columns are declared, so that what a file lacks is null.
SET input_format_parquet_allow_missing_columns = 1;
SET join_use_nulls = 1;
SET cast_keep_nullable = 1;

CREATE OR REPLACE VIEW pairbench_cells AS
SELECT *, extract(_path, '^(.*)/data/') AS bundle
FROM file('${bundles}/data/cells.parquet', 'Parquet', 'cell_id String, suite String');

CREATE OR REPLACE VIEW pairbench_processes AS
SELECT *, extract(_path, '^(.*)/data/') AS bundle
FROM file('${bundles}/data/processes.parquet', 'Parquet',
  'process_no Int32, process_id String, suite String, cell_id String, arm String, side String, round Int32, slot Int32,
   outcome String, measured_operations Nullable(Int64), elapsed_ns Nullable(Int64), cpu_ns Nullable(Int64),
   cpu_wall_ns Nullable(Int64), cpu_scope Nullable(String), process_wall_ns Nullable(Int64),
   peak_rss_bytes Nullable(Int64), stated_latency_p50_ns Nullable(Int64), stated_latency_p99_ns Nullable(Int64),
   stated_throughput_micro_per_sec Nullable(Int64)');

CREATE OR REPLACE VIEW pairbench_samples AS
SELECT *, extract(_path, '^(.*)/data/') AS bundle
FROM file('${bundles}/data/samples/*.parquet', 'Parquet',
  'process_no Int32, seq Int64, start_ns Int64, latency_ns Int64, scheduled_ns Nullable(Int64)');
