CREATE TABLE clicks (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT window_time, CURRENT_WATERMARK(window_time) AS watermark FROM (
  SELECT window_time, COUNT(*) AS clicks FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
  GROUP BY window_start, window_end, window_time);
