CREATE TABLE t (b AS 1) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
SELECT b FROM t;
