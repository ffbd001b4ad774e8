-- golden: no batch: over history it is supported
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE best (window_start TIMESTAMP(3), category STRING, amount DECIMAL(10, 2))
WITH ('connector' = 'filesystem', 'path' = 'out/best', 'format' = 'json');
INSERT INTO best SELECT window_start, category, amount FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY amount DESC) AS rn
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)))
WHERE rn <= 2;
