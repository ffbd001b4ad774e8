-- A row of Parquet with NULL in a column that is NOT NULL does not decode: its record is shown as JSON.
SET 'tidemill.dead-letter.orders' = 'bad_orders';
CREATE TABLE orders (
  category STRING,
  amount INT NOT NULL,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.parquet', 'format' = 'parquet');
CREATE TABLE minutes (
  window_start TIMESTAMP(3),
  category STRING,
  orders BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/minutes', 'format' = 'json');
CREATE TABLE bad_orders (
  error STRING,
  source_offset BIGINT,
  record STRING,
  source_partition STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/bad_orders', 'format' = 'json');
INSERT INTO minutes SELECT window_start, category, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, category;
