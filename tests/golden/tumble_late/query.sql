-- A row is late if the watermark of the rows before it has reached the last millisecond of its window: the row at
-- 10:00:59.999 comes in time after 10:01:03 (whose watermark is 10:00:58), and late after 10:01:05.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE totals (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  category STRING,
  orders BIGINT,
  revenue DECIMAL(38, 2)
) WITH ('connector' = 'filesystem', 'path' = 'out/totals', 'format' = 'json');
CREATE TABLE late (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  late_reason STRING,
  row_watermark TIMESTAMP(3),
  source_partition STRING,
  source_offset BIGINT
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tidemill.late-output.totals' = 'late';
INSERT INTO totals
SELECT window_start, window_end, category, COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
