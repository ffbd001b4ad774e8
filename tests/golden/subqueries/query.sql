-- golden: no live, no reconcile: subqueries in expressions run in batch alone
CREATE TABLE t (a STRING, x INT) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
SELECT a, x FROM t WHERE x IN (SELECT MAX(x) FROM t);
SELECT a, x, (SELECT SUM(x) FROM t) AS total FROM t WHERE a = 'q';
SELECT a, x FROM t WHERE EXISTS (SELECT 1 FROM t AS other WHERE other.x > t.x);
SELECT a, x AS not_in FROM t WHERE x NOT IN (SELECT x FROM t WHERE a = 'p');
