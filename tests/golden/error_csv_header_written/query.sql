CREATE TABLE t (a STRING, x INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
CREATE TABLE o (a STRING) WITH ('connector' = 'filesystem', 'path' = 'out/o', 'format' = 'csv', 'csv.ignore-first-line' = 'true');
INSERT INTO o SELECT a FROM t;
