CREATE TABLE orders (
  f DOUBLE,
  category STRING,
  amount INT,
  ts TIMESTAMP(3),
  price DECIMAL(10, 3),
  item ROW<sku STRING, n BIGINT>,
  tags ARRAY<STRING>,
  more MAP<STRING, DECIMAL(4, 1)>,
  bytes BYTES,
  d DATE,
  flag BOOLEAN,
  in_no_file STRING
) WITH ('connector' = 'filesystem', 'path' = 'orders.parquet', 'format' = 'parquet');
SELECT * FROM orders;
