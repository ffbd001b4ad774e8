-- What a window gave is unnested, and is grouped by its window again.
CREATE TABLE t (
  k STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT window_start, k, COUNT(*) AS c
FROM (
  SELECT window_start, window_end, ARRAY_AGG(k) AS ks FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end
) CROSS JOIN UNNEST(ks) AS u(k)
GROUP BY window_start, window_end, k;
