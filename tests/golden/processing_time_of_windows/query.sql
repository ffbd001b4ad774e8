-- golden: no batch, no reconcile: a window over processing time is live
-- window_time of a window over processing time is processing time again, and so is PROCTIME() beside its results.
CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE VIEW counts AS SELECT id, window_time AS t, PROCTIME() AS now_p, COUNT(*) AS orders
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(p), INTERVAL '15000' DAY)) GROUP BY window_start, window_end, window_time, id;
SELECT SUM(orders) AS orders FROM TABLE(TUMBLE(TABLE counts, DESCRIPTOR(t), INTERVAL '30000' DAY))
GROUP BY window_start, window_end;
SELECT COUNT(*) AS ids FROM TABLE(TUMBLE(TABLE counts, DESCRIPTOR(now_p), INTERVAL '30000' DAY))
GROUP BY window_start, window_end;
SELECT COUNT(*) AS ids, MAX(orders) AS most FROM (
  SELECT id, window_start, window_end, COUNT(*) AS orders
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(p), INTERVAL '30000' DAY)) GROUP BY window_start, window_end, id)
GROUP BY window_start, window_end;
