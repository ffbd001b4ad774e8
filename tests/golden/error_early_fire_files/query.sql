-- golden: no batch: over history a window gives its result once
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '10 s';
CREATE TABLE orders (
  category STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE totals (window_end TIMESTAMP(3), orders BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/totals', 'format' = 'json');
INSERT INTO totals SELECT window_end, COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
