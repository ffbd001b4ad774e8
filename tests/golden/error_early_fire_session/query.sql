-- golden: no batch: over history a session gives its result once
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '10 s';
CREATE TABLE orders (
  category STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_end, category, COUNT(*) AS orders
FROM TABLE(SESSION(TABLE orders PARTITION BY category, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category;
