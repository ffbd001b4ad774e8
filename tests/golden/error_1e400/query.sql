CREATE TABLE orders (
  category STRING,
  amount DOUBLE,
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category, amount, ts FROM orders;
