-- golden: no reconcile: without windows no row is late
-- Columns of one name are numbered in a result, and go by position in an INSERT.
CREATE TABLE t (id INT, x ROW<a INT>, y ROW<a INT>) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
CREATE TABLE s (p INT, q INT) WITH ('connector' = 'filesystem', 'path' = 'out/s', 'format' = 'json');
SELECT id, id, x.a, y.a, id AS a0 FROM t;
SELECT COUNT(*) AS n, MAX(id) AS n FROM t GROUP BY id;
INSERT INTO s SELECT id, id FROM t;
INSERT INTO s SELECT x.a, y.a FROM t UNION ALL SELECT id, id FROM t;
