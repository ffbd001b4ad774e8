-- golden: no live, no reconcile: an UNNEST between a SESSION and its GROUP BY is refused in a live run
-- A session is made of all rows of the table: one without elements, which CROSS JOIN UNNEST leaves out, holds it together.
CREATE TABLE clicks (
  who STRING,
  ts TIMESTAMP(3),
  xs ARRAY<INT>,
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
SELECT window_start, window_end, who, COUNT(*) AS n, SUM(x) AS total
FROM TABLE(SESSION(TABLE clicks PARTITION BY who, DESCRIPTOR(ts), INTERVAL '15' SECOND)) CROSS JOIN UNNEST(xs) AS e(x)
GROUP BY window_start, window_end, who;
