-- Windows of 2, 4 and 6 minutes that start together; row 4 comes when only the longest is still open.
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
FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '6' MINUTE))
GROUP BY window_start, window_end;
