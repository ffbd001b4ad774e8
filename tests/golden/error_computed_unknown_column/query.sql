CREATE TABLE t (a INT, b AS c + 1) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
SELECT * FROM t;
