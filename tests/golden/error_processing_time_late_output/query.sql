-- golden: no batch, no reconcile: a window over processing time is live
SET 'tidemill.late-output.counts' = 'late';
CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE counts (orders BIGINT) WITH ('connector' = 'print');
CREATE TABLE late (id BIGINT) WITH ('connector' = 'print');
INSERT INTO counts SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(p), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
