SET 'tidemill.dead-letter.minutes' = 'bad_orders';
CREATE TABLE orders (
  category STRING,
  amount INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE minutes (
  window_start TIMESTAMP(3),
  orders BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/minutes', 'format' = 'json');
CREATE TABLE hours (
  window_start TIMESTAMP(3),
  amount INT
) WITH ('connector' = 'filesystem', 'path' = 'out/hours', 'format' = 'json');
CREATE TABLE bad_orders (
  error STRING,
  source_offset BIGINT,
  record STRING,
  record_bytes BYTES,
  source_partition STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/bad_orders', 'format' = 'json');
INSERT INTO minutes SELECT window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
INSERT INTO hours SELECT window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
