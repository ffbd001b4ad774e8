CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
CREATE VIEW v AS SELECT a FROM t;
CREATE TABLE v (a INT) WITH ('connector' = 'blackhole');
SELECT * FROM v;
