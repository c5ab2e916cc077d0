-- Trino, hive connector: the relations that analysis.sql stands on. Lay the
-- tables of all bundles under three folders, each file named after its bundle,
-- and replace ${bundles} by their place. Columns that a file lacks are null
-- with hive.parquet.use-column-names=true.
CREATE TABLE pairbench_cells_files (
  cell_id VARCHAR, suite VARCHAR
) WITH (format = 'PARQUET', external_location = '${bundles}/cells');

CREATE TABLE pairbench_processes_files (
  process_no INTEGER, process_id VARCHAR, suite VARCHAR, cell_id VARCHAR, arm VARCHAR, side VARCHAR, round INTEGER,
  slot INTEGER, outcome VARCHAR, measured_operations BIGINT, elapsed_ns BIGINT, cpu_ns BIGINT, cpu_wall_ns BIGINT,
  cpu_scope VARCHAR, process_wall_ns BIGINT, peak_rss_bytes BIGINT, stated_latency_p50_ns BIGINT,
  stated_latency_p99_ns BIGINT, stated_throughput_micro_per_sec BIGINT
) WITH (format = 'PARQUET', external_location = '${bundles}/processes');

CREATE TABLE pairbench_samples_files (
  process_no INTEGER, seq BIGINT, start_ns BIGINT, latency_ns BIGINT, scheduled_ns BIGINT
) WITH (format = 'PARQUET', external_location = '${bundles}/samples');

-- Files are named BUNDLE.parquet, and samples BUNDLE.NUMBER.parquet.
CREATE OR REPLACE VIEW pairbench_cells AS
SELECT *, regexp_extract("$path", '([^/.]+)[^/]*$', 1) AS bundle FROM pairbench_cells_files;

CREATE OR REPLACE VIEW pairbench_processes AS
SELECT *, regexp_extract("$path", '([^/.]+)[^/]*$', 1) AS bundle FROM pairbench_processes_files;

CREATE OR REPLACE VIEW pairbench_samples AS
SELECT *, regexp_extract("$path", '([^/.]+)[^/]*$', 1) AS bundle FROM pairbench_samples_files;
