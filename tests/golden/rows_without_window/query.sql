-- Rows that no window holds pass as they come: nothing is late, a NULL time is a value.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT category, amount * 2 AS twice, ts FROM orders WHERE amount > 1 OR category IS NULL;
