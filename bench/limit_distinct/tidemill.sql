-- The users of each page in a day: each user sees one page, every other one twice.
CREATE TABLE visits (
  id BIGINT,
  user_id AS MOD(id, CAST($users AS BIGINT)),
  page AS MOD(MOD(id, CAST($users AS BIGINT)), 100000),
  ts AS TO_TIMESTAMP_LTZ(1767225600000 + id / 1000, 3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'datagen', 'number-of-rows' = '$rows', 'rows-per-second' = '1000000000',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '$last');

SELECT COUNT(*) AS pages, SUM(visits) AS visits, SUM(users) AS users
FROM (
  SELECT page, window_start, window_end, COUNT(*) AS visits, COUNT(DISTINCT user_id) AS users
  FROM TABLE(TUMBLE(TABLE visits, DESCRIPTOR(ts), INTERVAL '1' DAY))
  GROUP BY page, window_start, window_end
);
