-- The dearest two orders of a minute, of the rows themselves: nothing has judged which are late, so the result is updated.
-- The late book (9.50) comes when the first minute is over, and is its first from then on.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, rn, category, amount FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY amount DESC) AS rn
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)))
WHERE rn <= 2;
