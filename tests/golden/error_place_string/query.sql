CREATE TABLE t (k STRING, g STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
-- nope
SELECT 'nope' AS x /* nope */ FROM t WHERE nope = 1;
