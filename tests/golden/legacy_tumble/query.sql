-- GROUP BY TUMBLE(...) gives what the table function gives: the rows of `grouped` are those of `by_function`,
-- late rows too; then HAVING, and a window over the result of another.
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
  TUMBLE_START(ts, INTERVAL '1' MINUTE),
  TUMBLE_END(ts, INTERVAL '1' MINUTE),
  TUMBLE_ROWTIME(ts, INTERVAL '60' SECOND),
  COUNT(*),
  SUM(o.amount)
FROM orders AS o
WHERE o.amount <> 8
GROUP BY category, TUMBLE(o.ts, INTERVAL '1' MINUTE);
INSERT INTO by_function
SELECT category, window_start, window_end, window_time, COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
WHERE amount <> 8
GROUP BY category, window_start, window_end, window_time;
SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) AS starts, COUNT(*)
FROM orders
GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)
HAVING COUNT(*) > 1;
SELECT TUMBLE_START(last_moment, INTERVAL '1' HOUR), MAX(revenue) AS best_minute
FROM (
  SELECT TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) AS last_moment, SUM(amount) AS revenue
  FROM orders
  GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)
)
GROUP BY TUMBLE(last_moment, INTERVAL '1' HOUR);
