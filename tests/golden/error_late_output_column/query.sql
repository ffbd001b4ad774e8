-- golden: no batch: a late output is looked at where it is written to, by the live run
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
  reason STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tidemill.late-output.totals' = 'late';
INSERT INTO totals
SELECT window_start, window_end, category, COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
