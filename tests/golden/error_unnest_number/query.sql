CREATE TABLE t (x INT) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT * FROM t CROSS JOIN UNNEST(x) AS u(y);
