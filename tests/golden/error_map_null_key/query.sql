CREATE TABLE t (x STRING) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT MAP[x, 1] AS m FROM t;
