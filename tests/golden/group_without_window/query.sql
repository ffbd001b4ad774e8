-- Without a window a group changes with every row; what it leaves is its last state. A NULL time is a value here.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category, COUNT(*) AS orders, SUM(amount) AS revenue, AVG(amount) AS average, MIN(amount) AS least
FROM orders GROUP BY category;
