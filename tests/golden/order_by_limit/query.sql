-- ORDER BY with LIMIT is a Top-N whose rank nobody reads. games (9.00) and the NULL category (9.00) tie for the last
-- place; the category decides, NULL first.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category, SUM(amount) AS revenue FROM orders GROUP BY category ORDER BY revenue DESC LIMIT 2;
