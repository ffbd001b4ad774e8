CREATE TABLE t (k STRING, g STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT k FROM t UNION ALL SELECT k, v FROM t;
