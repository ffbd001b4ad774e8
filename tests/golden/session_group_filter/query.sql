-- A condition on another column than the session's key leaves out groups, and changes no session.
CREATE TABLE clicks (
  `user` STRING,
  n INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT window_start, window_end, `user`, n, COUNT(*) AS clicks
FROM TABLE(SESSION(TABLE clicks PARTITION BY `user`, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, `user`, n
HAVING n > 1;
