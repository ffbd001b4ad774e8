CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json', 'zzzzzzzz' = 'x');
SELECT a FROM t;
