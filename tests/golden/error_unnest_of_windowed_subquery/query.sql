-- golden: no batch: a batch groups by any columns
CREATE TABLE t (
  tags ARRAY<STRING>,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT window_start, tag, COUNT(*) AS c
FROM (
  SELECT window_start, window_end, tags FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
) CROSS JOIN UNNEST(tags) AS u(tag)
GROUP BY window_start, window_end, tag;
