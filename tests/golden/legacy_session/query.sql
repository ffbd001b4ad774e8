-- GROUP BY SESSION(ts, gap) gives what the table function gives, late rows too. WHERE stands before the window: the
-- order of 0.00 bridges two sessions in the first two statements, and does not exist in the third.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE grouped (
  category STRING,
  starts TIMESTAMP(3),
  ends TIMESTAMP(3),
  last_moment TIMESTAMP(3),
  orders BIGINT,
  revenue DECIMAL(38, 2)
) WITH ('connector' = 'filesystem', 'path' = 'out/grouped', 'format' = 'json');
CREATE TABLE by_function (
  category STRING,
  starts TIMESTAMP(3),
  ends TIMESTAMP(3),
  last_moment TIMESTAMP(3),
  orders BIGINT,
  revenue DECIMAL(38, 2)
) WITH ('connector' = 'filesystem', 'path' = 'out/by_function', 'format' = 'json');
CREATE TABLE late_grouped (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  late_reason STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/late_grouped', 'format' = 'json');
SET 'tidemill.late-output.grouped' = 'late_grouped';
CREATE TABLE late_by_function (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  late_reason STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/late_by_function', 'format' = 'json');
SET 'tidemill.late-output.by_function' = 'late_by_function';
INSERT INTO grouped
SELECT
  category,
  SESSION_START(ts, INTERVAL '30' SECOND),
  SESSION_END(ts, INTERVAL '30' SECOND),
  SESSION_ROWTIME(ts, INTERVAL '30' SECOND),
  COUNT(*),
  SUM(amount)
FROM orders
GROUP BY SESSION(ts, INTERVAL '30' SECOND), category;
INSERT INTO by_function
SELECT category, window_start, window_end, window_time, COUNT(*), SUM(amount)
FROM TABLE(SESSION(TABLE orders PARTITION BY category, DESCRIPTOR(ts), INTERVAL '30' SECOND))
GROUP BY window_start, window_end, window_time, category;
SELECT o.category, SESSION_START(o.ts, INTERVAL '30' SECOND) AS starts, COUNT(*) AS orders
FROM orders AS o
WHERE o.amount > 0
GROUP BY o.category, SESSION(ts, INTERVAL '30' SECOND);
SELECT SESSION_START(ts, INTERVAL '1' MINUTE) AS starts, COUNT(*) AS orders
FROM orders
GROUP BY SESSION(ts, INTERVAL '1' MINUTE);
