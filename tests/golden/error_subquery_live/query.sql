-- golden: no batch: the batch can
CREATE TABLE t (a STRING, x INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
SELECT a FROM t WHERE x IN (SELECT MAX(x) FROM t);
