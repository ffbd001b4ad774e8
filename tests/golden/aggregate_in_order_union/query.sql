-- The rows of a union of tables are ordered as if they were of one.
CREATE TABLE orders (
  id INT,
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
CREATE TABLE refunds (
  reason STRING,
  number BIGINT,
  at TIMESTAMP(3),
  WATERMARK FOR at AS at - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'refunds.jsonl', 'format' = 'json');
SELECT window_start, LISTAGG(what, ' ') AS log, FIRST_VALUE(what) AS first_what, LAST_VALUE(what) AS last_what
FROM TABLE(TUMBLE((
  SELECT ts, CAST(id AS STRING) AS what FROM orders WHERE category = 'toys'
  UNION ALL
  SELECT at, UPPER(reason) AS what FROM refunds
), DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
