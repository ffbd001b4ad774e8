-- The largest minute of each hour: the first windows' results are never late for the second.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, window_end, MAX(revenue) AS largest, COUNT(*) AS minutes
FROM TABLE(TUMBLE(
  (SELECT window_time AS ts, SUM(amount) AS revenue FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, window_time),
  DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;
