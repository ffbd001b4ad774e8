-- A session of each user, all open to the end: each comes once, and every other one again when all others have come.
CREATE TABLE visits (
  id BIGINT,
  user_id AS MOD(id, CAST($users AS BIGINT)),
  ts AS TO_TIMESTAMP_LTZ(1767225600000 + id / 1000, 3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'datagen', 'number-of-rows' = '$rows', 'rows-per-second' = '1000000000',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '$last');

SELECT COUNT(*) AS sessions, SUM(visits) AS visits, SUM(user_id) AS users
FROM (
  SELECT user_id, window_start, window_end, COUNT(*) AS visits
  FROM TABLE(SESSION(TABLE visits PARTITION BY user_id, DESCRIPTOR(ts), INTERVAL '1' DAY))
  GROUP BY user_id, window_start, window_end
);
