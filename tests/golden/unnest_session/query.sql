-- The rows of one event are in the session of its user; where it is late, so are they.
CREATE TABLE clicks (
  `user` STRING,
  tags ARRAY<STRING>,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '0' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
CREATE TABLE totals (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  `user` STRING,
  tags STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/totals', 'format' = 'json');
CREATE TABLE late (
  `user` STRING,
  tags ARRAY<STRING>,
  late_reason STRING
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'tidemill.late-output.totals' = 'late';
CREATE VIEW tagged AS SELECT `user`, ts, tag FROM clicks CROSS JOIN UNNEST(tags) AS t(tag);
INSERT INTO totals
SELECT window_start, window_end, `user`, LISTAGG(tag)
FROM TABLE(SESSION(TABLE tagged PARTITION BY `user`, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, `user`;
