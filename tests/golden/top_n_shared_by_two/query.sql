-- One view with two bounds: each query reads its own first rows.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE VIEW numbered AS
SELECT category, amount, ROW_NUMBER() OVER (PARTITION BY category ORDER BY amount) AS rn FROM orders;
SELECT category, amount, rn FROM numbered WHERE rn <= 2;
SELECT category, amount, rn FROM numbered WHERE rn = 1;
