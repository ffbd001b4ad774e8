-- golden: no batch, no reconcile: a window over processing time is live
-- Rows without event time are in their windows too; none is late, and what is open at the end of input is told.
-- The same table is read by event time beside that, and an allowed lateness is nothing to the clock.
SET 'table.exec.emit.allow-lateness' = '1 min';
CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT COUNT(*) AS orders, MAX(id) AS last
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(p), INTERVAL '30000' DAY))
GROUP BY window_start, window_end;
SELECT id % 2 AS odd, COUNT(*) AS orders FROM orders GROUP BY TUMBLE(PROCTIME(), INTERVAL '30000' DAY), id % 2;
SELECT window_start, COUNT(*) AS orders FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
