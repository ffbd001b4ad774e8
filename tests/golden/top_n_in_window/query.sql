-- The two categories of a window with the most orders. toys and games have two each in the first minute: ties are
-- broken by the other columns. The late toy (0.50) is in no window live.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, rn, category, orders FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY orders DESC) AS rn FROM (
    SELECT window_start, window_end, category, COUNT(*) AS orders, SUM(amount) AS revenue
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
    GROUP BY window_start, window_end, category))
WHERE rn <= 2;
