CREATE TABLE t (a INT, b AS a + 1) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');
CREATE TABLE s (x INT, y AS x + 1) WITH ('connector' = 'print');
INSERT INTO s SELECT a, b FROM t;
