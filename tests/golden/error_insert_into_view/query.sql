CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
CREATE VIEW v AS SELECT a FROM t;
INSERT INTO v SELECT a FROM t;
