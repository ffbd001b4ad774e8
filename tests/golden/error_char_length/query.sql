CREATE TABLE t (a CHAR(2147483648)) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT a FROM t;
