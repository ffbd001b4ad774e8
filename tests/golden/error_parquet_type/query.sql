CREATE TABLE orders (
  category STRING,
  price BIGINT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.parquet', 'format' = 'parquet');
SELECT window_start, category, COUNT(*) AS orders, SUM(price) AS price
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
