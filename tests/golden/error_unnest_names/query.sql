CREATE TABLE t (x ARRAY<INT>) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT * FROM t CROSS JOIN UNNEST(x) WITH ORDINALITY AS u(y);
