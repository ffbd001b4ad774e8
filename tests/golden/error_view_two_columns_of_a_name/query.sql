CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
CREATE VIEW v AS SELECT a, -a AS a FROM t;
SELECT * FROM v;
