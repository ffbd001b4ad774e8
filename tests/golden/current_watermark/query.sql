-- A row's own watermark: none before the first, never back, and the same in each order of arrival of the partitions.
CREATE TABLE clicks (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'clicks', 'format' = 'json');
SELECT id, CURRENT_WATERMARK(ts) AS watermark, ts <= CURRENT_WATERMARK(ts) AS late FROM clicks;
SELECT c.id AS id_in_time FROM clicks AS c WHERE CURRENT_WATERMARK(c.ts) IS NULL OR c.ts > CURRENT_WATERMARK(c.ts);
SELECT window_start, COUNT(*) AS clicks, SUM(behind) AS behind, FIRST_VALUE(id) AS first_id
FROM TUMBLE((SELECT id, ts, IF(ts <= CURRENT_WATERMARK(ts), 1, 0) AS behind FROM clicks WHERE id <> 3),
  DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end;
