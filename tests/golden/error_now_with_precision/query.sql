CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT id FROM orders WHERE p > NOW(3) - INTERVAL '1' DAY;
