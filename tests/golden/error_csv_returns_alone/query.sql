CREATE TABLE t (a INT, b INT) WITH ('connector' = 'filesystem', 'path' = 't.csv', 'format' = 'csv', 'csv.ignore-first-line' = 'true');
SELECT a, b FROM t;
