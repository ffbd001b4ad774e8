SET 'table.local-time-zone' = 'Europe/Berlinn';
CREATE TABLE moments (
  i TIMESTAMP_LTZ(3)
) WITH ('connector' = 'filesystem', 'path' = 'moments.jsonl', 'format' = 'json');
SELECT i FROM moments;
