-- Arrays and rows are keys: of a group, of a window's group, and of DISTINCT.
CREATE TABLE t (id INT, ts TIMESTAMP(3), xs ARRAY<INT>, r ROW<x INT, y ARRAY<STRING>>, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
CREATE TABLE arrays (xs ARRAY<INT>, ids STRING) WITH ('connector' = 'filesystem', 'path' = 'out/arrays', 'format' = 'json');
CREATE TABLE together (r ROW<x INT, y ARRAY<STRING>>, xs ARRAY<INT>, c BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/together', 'format' = 'json');
INSERT INTO arrays
SELECT xs, LISTAGG(CAST(id AS STRING)) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, xs;
INSERT INTO together
SELECT r, xs, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, r, xs;
SELECT DISTINCT xs, id > 0 AS positive FROM t;
