CREATE TABLE orders (id BIGINT, p AS PROCTIME(), WATERMARK FOR p AS p - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT id FROM orders;
