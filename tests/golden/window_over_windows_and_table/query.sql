-- A window over the results of a window and the rows of a table: the row of 10:00:15 is late below, the refund of 10:00:05
-- above.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE refunds (
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'refunds.jsonl', 'format' = 'json');
SELECT window_start, window_end, SUM(amount) AS amount, COUNT(*) AS n FROM TABLE(TUMBLE((
    SELECT window_time AS ts, CAST(SUM(amount) AS DECIMAL(10, 2)) AS amount
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, window_time
    UNION ALL
    SELECT ts, amount FROM refunds),
  DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
