-- Two statements share a source; each has late rows of its own.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE minutes (
  window_start TIMESTAMP(3),
  revenue DECIMAL(38, 2)
) WITH ('connector' = 'filesystem', 'path' = 'out/minutes', 'format' = 'json');
CREATE TABLE hours (
  window_start TIMESTAMP(3),
  category STRING,
  orders BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/hours', 'format' = 'json');
CREATE TABLE late_minutes (
  amount DECIMAL(10, 2),
  window_end TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'out/late_minutes', 'format' = 'json');
CREATE TABLE late_hours (
  amount DECIMAL(10, 2),
  window_end TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'out/late_hours', 'format' = 'json');
SET 'tidemill.late-output.minutes' = 'late_minutes';
SET 'tidemill.late-output.hours' = 'late_hours';
INSERT INTO minutes SELECT window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
INSERT INTO hours SELECT window_start, category, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, category;
