-- A field of a ROW is that of the row, whatever other columns are called on the way.
CREATE TABLE t (g INT, r ROW<a INT, b STRING>) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
CREATE VIEW rows_alone AS SELECT r FROM t;
CREATE TABLE fields (a INT) WITH ('connector' = 'filesystem', 'path' = 'out/fields', 'format' = 'json');
CREATE TABLE nested (g INT, a INT) WITH ('connector' = 'filesystem', 'path' = 'out/nested', 'format' = 'json');
CREATE TABLE swapped (a INT) WITH ('connector' = 'filesystem', 'path' = 'out/swapped', 'format' = 'json');
INSERT INTO fields SELECT r.a FROM rows_alone;
INSERT INTO nested SELECT g, r.a FROM (SELECT g + 1 AS g, r FROM (SELECT g + 1 AS g, r FROM t) AS x) AS y;
INSERT INTO swapped SELECT q.k.a FROM (SELECT r AS k, g AS r FROM t) AS q;
