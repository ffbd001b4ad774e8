CREATE TABLE t (k STRING, g STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT v FROM t WHERE v;
