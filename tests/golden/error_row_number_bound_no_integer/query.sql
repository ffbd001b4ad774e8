-- golden: no batch: over history it is supported
-- As text, 10 comes before 2.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category, amount FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY category ORDER BY amount) AS rn FROM orders)
WHERE CAST(rn AS STRING) <= '2';
