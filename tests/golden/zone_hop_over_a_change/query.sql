-- A day every twelve hours on New York's clocks, from the day before one change to the day after; at 1970 times are negative.
SET 'table.local-time-zone' = 'America/New_York';
CREATE TABLE orders (
  n INT,
  ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, window_end, COUNT(*) AS orders, SUM(n) AS numbers
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '12' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end;
