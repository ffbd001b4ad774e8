-- Ten minutes every five, with an offset and across the epoch.
CREATE TABLE clicks (
  n INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT window_start, window_end, COUNT(*) AS clicks
FROM TABLE(HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE, INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
