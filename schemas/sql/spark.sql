-- Spark (3.3 or newer): the relations that analysis.sql stands on. Replace
-- ${bundles} by a path or a glob of bundle directories, or let spark-sql do it:
--   spark-sql --conf spark.sql.variable.substitute=true -d bundles='results/*/bundle' -f spark.sql
-- Columns are declared, so that what a file lacks is null. A bundle may be
-- without samples, and a pattern that matches no file is an error in Spark:
-- therefore the samples are picked out of all tables.
CREATE OR REPLACE TEMPORARY VIEW pairbench_cells_files (
  cell_id STRING, suite STRING
) USING parquet OPTIONS (path '${bundles}/data/cells.parquet');

CREATE OR REPLACE TEMPORARY VIEW pairbench_processes_files (
  process_no INT, process_id STRING, suite STRING, cell_id STRING, arm STRING, side STRING, round INT, slot INT,
  outcome STRING, measured_operations BIGINT, elapsed_ns BIGINT, cpu_ns BIGINT, cpu_wall_ns BIGINT, cpu_scope STRING,
  process_wall_ns BIGINT, peak_rss_bytes BIGINT, stated_latency_p50_ns BIGINT, stated_latency_p99_ns BIGINT,
  stated_throughput_micro_per_sec BIGINT
) USING parquet OPTIONS (path '${bundles}/data/processes.parquet');

CREATE OR REPLACE TEMPORARY VIEW pairbench_samples_files (
  process_no INT, seq BIGINT, start_ns BIGINT, latency_ns BIGINT, scheduled_ns BIGINT
) USING parquet OPTIONS (path '${bundles}/data', recursiveFileLookup 'true', pathGlobFilter '*.parquet');

CREATE OR REPLACE TEMPORARY VIEW pairbench_cells AS
SELECT *, regexp_extract(input_file_name(), '^(.*)/data/', 1) AS bundle FROM pairbench_cells_files;

CREATE OR REPLACE TEMPORARY VIEW pairbench_processes AS
SELECT *, regexp_extract(input_file_name(), '^(.*)/data/', 1) AS bundle FROM pairbench_processes_files;

CREATE OR REPLACE TEMPORARY VIEW pairbench_samples AS
SELECT *, regexp_extract(input_file_name(), '^(.*)/data/', 1) AS bundle FROM pairbench_samples_files
WHERE input_file_name() LIKE '%/data/samples/%';

-- In analysis.sql write TEMPORARY VIEW for VIEW: a lasting view cannot stand on
-- temporary ones. Spark computes a view as often as others use it, and reads all
-- samples each time: once the views are made, CACHE TABLE pairbench_percentiles,
-- then pairbench_wide, pairbench_metrics and pairbench_summaries.
