-- FETCH FIRST is LIMIT in the words of the standard.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category, SUM(amount) AS revenue FROM orders GROUP BY category ORDER BY revenue DESC FETCH FIRST 2 ROWS ONLY;
