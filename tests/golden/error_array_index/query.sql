CREATE TABLE t (x ARRAY<INT>) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT x['a'] AS y FROM t;
