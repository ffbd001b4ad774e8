-- Nobody reads the aggregates: the groups are there all the same, that of all rows among them.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT COUNT(*) AS n FROM (SELECT category, SUM(amount) AS revenue FROM orders GROUP BY ROLLUP (category));
SELECT category FROM orders GROUP BY ROLLUP (category);
