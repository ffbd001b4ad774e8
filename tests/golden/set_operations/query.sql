-- golden: no live, no reconcile: rows of an EXCEPT would be taken back when their like comes on the other side
-- Each row once; NULL is the same as NULL.
CREATE TABLE numbers (side STRING, n INT, t STRING)
  WITH ('connector' = 'filesystem', 'path' = 'numbers.jsonl', 'format' = 'json');
CREATE VIEW a AS SELECT n, t FROM numbers WHERE side = 'a';
CREATE VIEW b AS SELECT n, t FROM numbers WHERE side = 'b';
SELECT 'union' AS what, n, t FROM (SELECT * FROM a UNION SELECT * FROM b)
UNION ALL
SELECT 'intersect', n, t FROM (SELECT * FROM a INTERSECT SELECT * FROM b)
UNION ALL
SELECT 'except', n, t FROM (SELECT * FROM a EXCEPT SELECT * FROM b);
