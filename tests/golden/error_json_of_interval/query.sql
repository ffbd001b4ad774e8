CREATE TABLE t (a INT, r ROW<a INT, b INT>, arr ARRAY<INT>, s STRING) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT JSON_STRING(INTERVAL '1' DAY) AS y FROM t;
