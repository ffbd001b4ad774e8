-- Two rows exactly one gap apart are one session, one millisecond more makes two.
CREATE TABLE clicks (
  `user` STRING,
  n INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT window_start, window_end, `user`, COUNT(*) AS clicks, SUM(n) AS n
FROM TABLE(SESSION(TABLE clicks PARTITION BY `user`, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, `user`;
