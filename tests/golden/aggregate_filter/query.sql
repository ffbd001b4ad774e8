-- FILTER takes rows from one aggregate, not from the window.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, window_end, COUNT(*) AS orders, COUNT(*) FILTER (WHERE category = 'toys') AS toys,
  SUM(amount) FILTER (WHERE amount >= 5) AS large, AVG(amount) FILTER (WHERE category = 'none') AS none
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
