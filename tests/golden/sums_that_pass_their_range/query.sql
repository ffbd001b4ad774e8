-- Only the result must fit: sums that leave the range of BIGINT on the way, in any order, and come back.
CREATE TABLE orders (
  amount BIGINT,
  large DECIMAL(38, 0),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, SUM(amount) AS total, AVG(amount) AS average, SUM(large) AS large
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
