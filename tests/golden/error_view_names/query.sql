CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
CREATE VIEW v (a, b) AS SELECT a FROM t;
SELECT * FROM v;
