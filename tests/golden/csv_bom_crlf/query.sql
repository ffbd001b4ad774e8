-- A byte order mark, CR LF, and a line end within quotes, which belongs to the value.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'orders.csv', 'format' = 'csv');
SELECT category, amount, ts FROM orders;
