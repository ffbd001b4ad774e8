-- A day is from midnight to midnight in Berlin: 23 hours where clocks are put forward, and 25 where they are put back.
SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE orders (
  amount DECIMAL(10, 2),
  ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, window_end, window_time, COUNT(*) AS orders, MIN(ts) AS first_at, MAX(ts) AS last_at
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end, window_time;
