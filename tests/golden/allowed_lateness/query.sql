-- With an allowed lateness of a minute the window [10:00, 10:01) fires when the watermark passes 10:01 (the third row, at
-- 10:01:10), and again for what comes until the watermark passes 10:02 (the eighth row, at 10:02:10): 0.50 and 0.25 change
-- a result, games is new, 1.25 comes too late.
SET 'table.exec.emit.allow-lateness' = '1 min';
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, window_end, category, COUNT(*) AS orders, SUM(amount) AS revenue
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
