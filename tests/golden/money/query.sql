-- Money is read from its text and summed without a float: ten thousand times 0.01, and sums past 2^53.
CREATE TABLE orders (
  account STRING,
  amount DECIMAL(18, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, account, COUNT(*) AS payments, SUM(amount) AS total, AVG(amount) AS average, MIN(amount) AS least,
  MAX(amount) AS most
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, account;
