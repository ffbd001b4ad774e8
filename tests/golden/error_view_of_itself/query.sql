CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
CREATE VIEW v AS SELECT * FROM v;
SELECT * FROM v;
