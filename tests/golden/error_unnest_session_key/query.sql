-- golden: no batch: a batch makes sessions of any key
CREATE TABLE clicks (
  tags ARRAY<STRING>,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'clicks.jsonl', 'format' = 'json');
CREATE VIEW tagged AS SELECT ts, UPPER(tag) AS tag FROM clicks CROSS JOIN UNNEST(tags) AS t(tag);
SELECT window_start, tag, COUNT(*) AS c
FROM TABLE(SESSION(TABLE tagged PARTITION BY tag, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, tag;
