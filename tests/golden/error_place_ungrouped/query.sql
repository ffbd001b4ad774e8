CREATE TABLE t (k STRING, g STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT k, SUM(v) AS s, v FROM t GROUP BY k;
