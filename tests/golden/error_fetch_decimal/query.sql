CREATE TABLE t (a INT, r ROW<a INT, b INT>, arr ARRAY<INT>, s STRING) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT a FROM t FETCH FIRST 1.5 ROWS ONLY;
