-- Samoa had no 30 December 2011: the day before it is followed by the day after it, and a window of two days has one.
SET 'table.local-time-zone' = 'Pacific/Apia';
CREATE TABLE orders (
  n INT,
  ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, window_end, window_time, SUM(n) AS numbers
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '2' DAY))
GROUP BY window_start, window_end, window_time;
