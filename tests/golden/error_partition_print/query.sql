CREATE TABLE p (a INT, b INT) PARTITIONED BY (b) WITH ('connector' = 'print');
INSERT INTO p SELECT 1, 2;
