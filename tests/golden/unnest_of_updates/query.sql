-- A result that is updated stays one: each change of an array is a change of its elements.
CREATE TABLE t (k STRING, x INT) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT k, x, n FROM (SELECT k, ARRAY_AGG(x) AS xs FROM t GROUP BY k) CROSS JOIN UNNEST(xs) WITH ORDINALITY AS u(x, n);
