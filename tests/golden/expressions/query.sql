-- Expressions in keys, in aggregates and over them; columns without a name are EXPR$n.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  quantity INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, window_end, UPPER(category) AS shelf, quantity > 1 AS several, COUNT(*) AS orders,
  SUM(amount * quantity) AS revenue, CAST(SUM(amount * quantity) AS DOUBLE) / COUNT(*) AS average,
  SUM(CASE WHEN quantity > 1 THEN 1 ELSE 0 END) AS bulk, MAX(quantity) - MIN(quantity), 1 + 1
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, UPPER(category), quantity > 1;
