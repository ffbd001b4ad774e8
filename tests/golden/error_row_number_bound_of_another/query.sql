-- golden: no batch: over history it is supported
-- The bound of the second query is none for the first.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE VIEW numbered AS
SELECT category, amount, ROW_NUMBER() OVER (PARTITION BY category ORDER BY amount) AS rn FROM orders;
SELECT category, amount, rn FROM numbered WHERE rn <= 2;
SELECT category, MAX(rn) AS most FROM numbered GROUP BY category;
