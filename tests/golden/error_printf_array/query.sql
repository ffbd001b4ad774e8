CREATE TABLE t (a INT, r ROW<a INT, b INT>, arr ARRAY<INT>, s STRING) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT PRINTF('%s', arr) AS y FROM t;
