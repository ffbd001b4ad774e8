-- golden: no reconcile: there is nothing to reconcile
CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');
SHOW TABLES;
