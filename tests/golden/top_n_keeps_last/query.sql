-- The last order of each category: WHERE rn = 1 over rows that come once.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category, amount, ts FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY category ORDER BY ts DESC) AS rn FROM orders)
WHERE rn = 1;
