SET 'table.exec.emit.early-fire.enabled' = 'true';
CREATE TABLE orders (
  category STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category FROM orders;
