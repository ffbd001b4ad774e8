-- A session takes rows for two minutes after its end: one that is in it changes its result, one that moves its end withdraws
-- it until the new end is passed, one that joins two makes one of them, and one that comes later is late.
SET 'table.exec.emit.allow-lateness' = '2 min';
SET 'tidemill.late-output.sessions' = 'late';
CREATE TABLE clicks (
  who STRING,
  n INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
CREATE TABLE sessions (
  who STRING,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  clicks BIGINT,
  numbers INT
) WITH ('connector' = 'print');
CREATE TABLE late (
  n INT,
  late_reason STRING,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
INSERT INTO sessions
SELECT who, window_start, window_end, COUNT(*), SUM(n)
FROM TABLE(SESSION(TABLE clicks PARTITION BY who, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, who;
