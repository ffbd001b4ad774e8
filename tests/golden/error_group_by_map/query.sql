CREATE TABLE t (m MAP<STRING, INT>) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT m, COUNT(*) AS c FROM t GROUP BY m;
