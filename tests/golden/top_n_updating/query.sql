-- Over a group without a window the first two change with every row: here toys, then games take the lead.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT rn, category, revenue FROM (
  SELECT *, ROW_NUMBER() OVER (ORDER BY revenue DESC) AS rn FROM (
    SELECT category, SUM(amount) AS revenue FROM orders GROUP BY category))
WHERE rn < 3;
