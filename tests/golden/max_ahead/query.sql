-- A phone stands in the year 2099: its rows go to the late output as 'future', and those that follow are in time.
-- A window over results may end after the last moment.
SET 'tidemill.watermark.max-ahead' = '2026-11-29 10:05:00';
SET 'tidemill.late-output.per_minute' = 'late';
SET 'tidemill.late-output.sessions' = 'late_for_sessions';
CREATE TABLE orders (
  id INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE per_minute (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  orders BIGINT,
  ids INT
) WITH ('connector' = 'filesystem', 'path' = 'out/per_minute', 'format' = 'json');
CREATE TABLE late (
  id INT,
  ts TIMESTAMP(3),
  late_reason STRING,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  row_watermark TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
CREATE TABLE late_for_sessions (
  id INT,
  late_reason STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/late_for_sessions', 'format' = 'json');
CREATE TABLE sessions (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  ids INT
) WITH ('connector' = 'filesystem', 'path' = 'out/sessions', 'format' = 'json');
CREATE TABLE per_hour (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  orders BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/per_hour', 'format' = 'json');
INSERT INTO per_minute
SELECT window_start, window_end, COUNT(*), SUM(id)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
INSERT INTO sessions
SELECT window_start, window_end, SUM(id)
FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
INSERT INTO per_hour
SELECT window_start, window_end, SUM(orders)
FROM TABLE(TUMBLE((
  SELECT window_time AS minute_time, COUNT(*) AS orders
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end, window_time
), DESCRIPTOR(minute_time), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
