SET 'execution.runtime-mode' = 'batch';
CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT COUNT(*) AS orders FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(p), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
