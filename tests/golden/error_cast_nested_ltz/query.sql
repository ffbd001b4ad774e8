CREATE TABLE t (ts TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT CAST(ARRAY[ts] AS ARRAY<STRING>) AS x FROM t;
