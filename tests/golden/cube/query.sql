-- Every combination of two columns.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category, amount > 2 AS dear, COUNT(*) AS orders FROM orders GROUP BY CUBE (category, amount > 2);
