CREATE TABLE t (a INT, r ROW<a INT, b INT>, arr ARRAY<INT>, s STRING) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT LPAD(s, 2000000000, 'ab') AS y FROM t;
