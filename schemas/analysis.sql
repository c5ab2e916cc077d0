-- The analysis of pairbench in portable SQL: the same percentiles, medians,
-- ranges, changes and overlaps as `pairbench analyze`, over one bundle or over
-- thousands of them in whatever engine holds them.
--
-- It stands on three relations that a file in sql/ makes for each engine:
--   pairbench_cells      data/cells.parquet
--   pairbench_processes  data/processes.parquet
--   pairbench_samples    data/samples/*.parquet
-- each with the columns of the dictionary and one more, `bundle`: what tells
-- the bundles apart. samples.scheduled_ns is null where there was no schedule.
--
-- It leaves three views, named after the tables of an analysis:
--   pairbench_metrics      a row for each process and metric that has a value
--   pairbench_summaries    a row for each cell, metric and side
--   pairbench_comparisons  a row for each cell and metric
-- A study may be spread over bundles, by shards or by repetition. Bundles of
-- different hosts or plans do not belong in one run of this file.
--
-- Used of SQL: window functions, CASE, COALESCE, UNION ALL, CROSS JOIN. Not
-- used: quantile functions, whose definitions differ from engine to engine.

-- The nearest rank k = max(1, ceil(p*n)) is the first rank with rank >= p*n,
-- and so the percentile is the smallest value whose rank reaches p*n. In
-- integers, with p in hundredths of a percent: rank * 10000 >= n * p.
CREATE OR REPLACE VIEW pairbench_percentiles AS
SELECT
  bundle,
  process_no,
  MAX(n) AS n,
  MIN(CASE WHEN latency_rank * 10000 >= n * 5000 THEN latency_ns END) AS latency_p50,
  MIN(CASE WHEN latency_rank * 10000 >= n * 9000 THEN latency_ns END) AS latency_p90,
  MIN(CASE WHEN latency_rank * 10000 >= n * 9900 THEN latency_ns END) AS latency_p99,
  MIN(CASE WHEN latency_rank * 10000 >= n * 9990 THEN latency_ns END) AS latency_p999,
  MAX(latency_ns) AS latency_max,
  MIN(CASE WHEN response_rank * 10000 >= n * 5000 THEN response_ns END) AS response_p50,
  MIN(CASE WHEN response_rank * 10000 >= n * 9900 THEN response_ns END) AS response_p99
FROM (
  SELECT
    bundle,
    process_no,
    latency_ns,
    response_ns,
    COUNT(*) OVER (PARTITION BY bundle, process_no) AS n,
    ROW_NUMBER() OVER (PARTITION BY bundle, process_no ORDER BY latency_ns) AS latency_rank,
    ROW_NUMBER() OVER (PARTITION BY bundle, process_no ORDER BY response_ns) AS response_rank
  FROM (
    SELECT bundle, process_no, latency_ns, start_ns + latency_ns - scheduled_ns AS response_ns
    FROM pairbench_samples
  ) samples
) ranked
GROUP BY bundle, process_no;

-- One row for each process with its metrics side by side. A percentile that a
-- process or an imported file states counts only where there are no samples, a
-- rate that an imported file states counts always.
CREATE OR REPLACE VIEW pairbench_wide AS
SELECT
  p.bundle, p.process_no, p.process_id, p.suite, p.cell_id, p.arm, p.side, p.round, p.slot, p.outcome,
  CASE WHEN p.measured_operations = 1 THEN CAST(p.elapsed_ns AS DOUBLE) END AS run_time,
  COALESCE(
    CAST(p.stated_throughput_micro_per_sec AS DOUBLE) / 1e6,
    CASE WHEN p.elapsed_ns > 0
      THEN CAST(p.measured_operations AS DOUBLE) * 1e9 / CAST(p.elapsed_ns AS DOUBLE) END) AS throughput,
  CASE WHEN p.wall_ns > 0
    THEN CAST(p.cpu_ns AS DOUBLE) * 1e2 / CAST(p.wall_ns AS DOUBLE) END AS cpu,
  CAST(COALESCE(q.latency_p50, CASE WHEN q.n IS NULL THEN p.stated_latency_p50_ns END) AS DOUBLE) AS latency_p50,
  CAST(q.latency_p90 AS DOUBLE) AS latency_p90,
  CAST(COALESCE(q.latency_p99, CASE WHEN q.n IS NULL THEN p.stated_latency_p99_ns END) AS DOUBLE) AS latency_p99,
  CAST(q.latency_p999 AS DOUBLE) AS latency_p999,
  CAST(q.latency_max AS DOUBLE) AS latency_max,
  CAST(q.response_p50 AS DOUBLE) AS response_p50,
  CAST(q.response_p99 AS DOUBLE) AS response_p99,
  CAST(p.peak_rss_bytes AS DOUBLE) AS peak_rss,
  -- operations a second and core: throughput / (cpu / 100)
  CASE WHEN p.wall_ns > 0 AND p.cpu_ns > 0
    THEN COALESCE(
        CAST(p.stated_throughput_micro_per_sec AS DOUBLE) / 1e6,
        CASE WHEN p.elapsed_ns > 0
          THEN CAST(p.measured_operations AS DOUBLE) * 1e9 / CAST(p.elapsed_ns AS DOUBLE) END)
      * CAST(p.wall_ns AS DOUBLE) / CAST(p.cpu_ns AS DOUBLE) END AS cpu_efficiency
FROM (
  SELECT
    processes.*,
    COALESCE(cpu_wall_ns, CASE WHEN cpu_scope = 'process' THEN process_wall_ns ELSE elapsed_ns END) AS wall_ns
  FROM pairbench_processes processes
) p
LEFT JOIN pairbench_percentiles q ON q.bundle = p.bundle AND q.process_no = p.process_no;

CREATE OR REPLACE VIEW pairbench_metric_names AS
SELECT 'run_time' AS metric, 'ns' AS unit, 'lower' AS better
UNION ALL SELECT 'throughput', 'per_sec', 'higher'
UNION ALL SELECT 'cpu', 'pct', 'neither'
UNION ALL SELECT 'latency_p50', 'ns', 'lower'
UNION ALL SELECT 'latency_p90', 'ns', 'lower'
UNION ALL SELECT 'latency_p99', 'ns', 'lower'
UNION ALL SELECT 'latency_p999', 'ns', 'lower'
UNION ALL SELECT 'latency_max', 'ns', 'lower'
UNION ALL SELECT 'response_p50', 'ns', 'lower'
UNION ALL SELECT 'response_p99', 'ns', 'lower'
UNION ALL SELECT 'peak_rss', 'bytes', 'lower'
UNION ALL SELECT 'cpu_efficiency', 'per_sec', 'higher';

CREATE OR REPLACE VIEW pairbench_metrics AS
SELECT *
FROM (
  SELECT
    w.suite, w.cell_id, w.bundle, w.process_no, w.process_id, w.arm, w.side, w.round, w.slot, w.outcome,
    w.outcome = 'ok' AS in_median,
    m.metric, m.unit, m.better,
    CASE m.metric
      WHEN 'run_time' THEN w.run_time
      WHEN 'throughput' THEN w.throughput
      WHEN 'cpu' THEN w.cpu
      WHEN 'latency_p50' THEN w.latency_p50
      WHEN 'latency_p90' THEN w.latency_p90
      WHEN 'latency_p99' THEN w.latency_p99
      WHEN 'latency_p999' THEN w.latency_p999
      WHEN 'latency_max' THEN w.latency_max
      WHEN 'response_p50' THEN w.response_p50
      WHEN 'response_p99' THEN w.response_p99
      WHEN 'peak_rss' THEN w.peak_rss
      WHEN 'cpu_efficiency' THEN w.cpu_efficiency
    END AS value
  FROM pairbench_wide w
  CROSS JOIN pairbench_metric_names m
) valued
WHERE value IS NOT NULL;

-- Every cell has a row for each metric of its suite and for each side, with
-- n = 0 where no process has a value. The median of an even number is the mean
-- of the two in the middle: the ranks r with n <= 2r <= n + 2.
CREATE OR REPLACE VIEW pairbench_summaries AS
SELECT
  k.suite, k.cell_id, k.metric, k.unit, k.better, a.arm, k.side,
  COALESCE(s.n, 0) AS n, s.median, s.min, s.max
FROM (
  SELECT DISTINCT c.suite, c.cell_id, m.metric, m.unit, m.better, sides.side
  FROM pairbench_cells c
  JOIN (SELECT DISTINCT suite, metric, unit, better FROM pairbench_metrics) m ON m.suite = c.suite
  CROSS JOIN (SELECT 'A' AS side UNION ALL SELECT 'B') sides
) k
LEFT JOIN (SELECT side, MAX(arm) AS arm FROM pairbench_processes GROUP BY side) a ON a.side = k.side
LEFT JOIN (
  SELECT
    suite, cell_id, metric, side,
    MAX(n) AS n,
    AVG(CASE WHEN 2 * value_rank >= n AND 2 * value_rank <= n + 2 THEN value END) AS median,
    MIN(value) AS min,
    MAX(value) AS max
  FROM (
    SELECT
      suite, cell_id, metric, side, value,
      COUNT(*) OVER (PARTITION BY suite, cell_id, metric, side) AS n,
      ROW_NUMBER() OVER (PARTITION BY suite, cell_id, metric, side ORDER BY value) AS value_rank
    FROM pairbench_metrics
    WHERE in_median
  ) ranked
  GROUP BY suite, cell_id, metric, side
) s ON s.suite = k.suite AND s.cell_id = k.cell_id AND s.metric = k.metric AND s.side = k.side;

-- The change is (B - A) / A, which keeps its digits where the medians are
-- close. Ranges are closed: touching is overlap. One process has no range.
CREATE OR REPLACE VIEW pairbench_comparisons AS
SELECT
  suite, cell_id, metric, unit, better,
  n_a, median_a, min_a, max_a,
  n_b, median_b, min_b, max_b,
  CASE WHEN n_a > 0 AND n_b > 0 AND median_a <> 0 THEN (median_b - median_a) / median_a * 1e2 END AS change_pct,
  CASE WHEN n_a = 0 OR n_b = 0 THEN 'arm_missing' WHEN median_a = 0 THEN 'median_a_zero' END AS change_reason,
  CASE WHEN n_a > 1 AND n_b > 1 THEN min_a <= max_b AND min_b <= max_a END AS overlap,
  CASE WHEN n_a = 0 OR n_b = 0 THEN 'arm_missing' WHEN n_a = 1 OR n_b = 1 THEN 'one_process' END AS overlap_reason
FROM (
  SELECT
    suite, cell_id, metric, unit, better,
    MAX(CASE WHEN side = 'A' THEN n END) AS n_a,
    MAX(CASE WHEN side = 'A' THEN median END) AS median_a,
    MAX(CASE WHEN side = 'A' THEN min END) AS min_a,
    MAX(CASE WHEN side = 'A' THEN max END) AS max_a,
    MAX(CASE WHEN side = 'B' THEN n END) AS n_b,
    MAX(CASE WHEN side = 'B' THEN median END) AS median_b,
    MAX(CASE WHEN side = 'B' THEN min END) AS min_b,
    MAX(CASE WHEN side = 'B' THEN max END) AS max_b
  FROM pairbench_summaries
  GROUP BY suite, cell_id, metric, unit, better
) sides;
