-- golden: no batch: over history nothing is updated
SET 'table.exec.emit.allow-lateness' = '1 min';
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, window_end, SUM(orders) AS orders FROM TABLE(TUMBLE((
  SELECT window_time AS ts, COUNT(*) AS orders FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end, window_time), DESCRIPTOR(ts), INTERVAL '2' MINUTE))
GROUP BY window_start, window_end;
