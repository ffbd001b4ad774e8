CREATE TABLE t (x ARRAY<INT>) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT * FROM t LEFT JOIN UNNEST(x) AS u(y) ON y > 1;
