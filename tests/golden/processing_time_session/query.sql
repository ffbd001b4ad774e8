-- golden: no batch, no reconcile: a window over processing time is live
-- A pause of a day is longer than any test, so each key has one session.
CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT id, COUNT(*) AS orders, TIMESTAMPDIFF(DAY, window_start, window_end) AS days
FROM TABLE(SESSION(TABLE orders PARTITION BY id, DESCRIPTOR(p), INTERVAL '1' DAY))
GROUP BY window_start, window_end, id;
