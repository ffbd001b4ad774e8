-- golden: no live: only a batch overwrites
CREATE TABLE t (a STRING, x INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
CREATE TABLE o (a STRING) WITH ('connector' = 'filesystem', 'path' = 'table', 'format' = 'json');
INSERT OVERWRITE o SELECT a FROM t;
