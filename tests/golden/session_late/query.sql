-- A late row that would join two sessions is late: the first has closed. A row that touches none is late for its own.
CREATE TABLE clicks (
  `user` STRING,
  n INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '0' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
CREATE TABLE totals (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  clicks BIGINT,
  n INT
) WITH ('connector' = 'filesystem', 'path' = 'out/totals', 'format' = 'json');
CREATE TABLE late (
  n INT,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  late_reason STRING,
  row_watermark TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tidemill.late-output.totals' = 'late';
INSERT INTO totals
SELECT window_start, window_end, COUNT(*), SUM(n)
FROM TABLE(SESSION(TABLE clicks PARTITION BY `user`, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, `user`;
