-- The hour from two to three comes twice in Berlin, and a row that is late after the first time is not after the second.
SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE orders (
  n INT,
  ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE half_hours (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  window_time TIMESTAMP_LTZ(3),
  orders BIGINT,
  numbers INT
) WITH ('connector' = 'filesystem', 'path' = 'out/half_hours', 'format' = 'json');
CREATE TABLE late (
  n INT,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  row_watermark TIMESTAMP_LTZ(3),
  late_reason STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tidemill.late-output.half_hours' = 'late';
INSERT INTO half_hours
SELECT window_start, window_end, window_time, COUNT(*), SUM(n)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' MINUTE))
GROUP BY window_start, window_end, window_time;
