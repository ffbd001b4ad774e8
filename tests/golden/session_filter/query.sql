-- golden: no live, no reconcile: a condition between a session and its GROUP BY is only supported in a batch yet
-- A filter on another column than the key does not change which rows make a session.
CREATE TABLE clicks (
  `user` STRING,
  n INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT window_start, window_end, `user`, COUNT(*) AS clicks, SUM(n) AS n
FROM TABLE(SESSION(TABLE clicks PARTITION BY `user`, DESCRIPTOR(ts), INTERVAL '10' SECOND))
WHERE n > 1
GROUP BY window_start, window_end, `user`;
