-- Flink gives a wrapped number.
CREATE TABLE orders (
  quantity INT,
  price INT
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT quantity * price AS revenue FROM orders;
