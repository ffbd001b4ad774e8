-- ROLLUP over what is a key anyway: the sets (category) and (category), so each group comes twice.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category, COUNT(*) AS orders FROM orders GROUP BY category, ROLLUP (category);
