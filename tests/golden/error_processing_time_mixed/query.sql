CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE VIEW counts AS SELECT id, PROCTIME() AS q, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end, id;
SELECT SUM(orders) AS orders FROM TABLE(TUMBLE(TABLE counts, DESCRIPTOR(q), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
