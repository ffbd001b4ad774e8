-- Casts, comparisons and texts that cross between instants and local times go by Berlin's clocks.
SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE moments (
  n INT,
  i TIMESTAMP_LTZ(3),
  l TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'moments.jsonl', 'format' = 'json');
SELECT n, i, CAST(i AS TIMESTAMP(3)) AS local_time, CAST(i AS DATE) AS local_day, CAST(i AS TIME) AS time_of_day,
  l, CAST(l AS TIMESTAMP_LTZ(3)) AS instant, CAST(CAST(l AS DATE) AS TIMESTAMP_LTZ(3)) AS midnight,
  i = l AS same, i >= TIMESTAMP '2026-10-25 02:30:00' AS after_half_past,
  i = CAST('2026-03-29 02:30:00' AS TIMESTAMP_LTZ(3)) AS by_text,
  i = CAST('2026-03-29T01:30:00Z' AS TIMESTAMP_LTZ(3)) AS by_text_in_utc
FROM moments;
