CREATE TABLE t (a INT, b AS 1 / a) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
SELECT b FROM t;
