-- A row that comes behind others and in time joins two sessions to one.
CREATE TABLE clicks (
  `user` STRING,
  n INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT window_start, window_end, `user`, COUNT(*) AS clicks, SUM(n) AS n
FROM TABLE(SESSION(TABLE clicks PARTITION BY `user`, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, `user`;
