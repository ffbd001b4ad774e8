CREATE TABLE orders (
  tags MAP<STRING, STRING>,
  amount DECIMAL(10, 2)
) WITH ('connector' = 'filesystem', 'path' = 'orders.csv', 'format' = 'csv');
SELECT amount FROM orders;
