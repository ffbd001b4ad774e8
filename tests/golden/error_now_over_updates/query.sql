-- golden: no batch, no reconcile: a batch has one present time, and takes no row back
CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT n, SUM(orders) AS orders FROM (SELECT id, COUNT(*) AS orders, NOW() AS n FROM orders GROUP BY id) GROUP BY n;
