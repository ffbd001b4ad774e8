-- golden: no live: it would run for ever
CREATE TABLE t (amount INT) WITH ('connector' = 'datagen');
SELECT * FROM t;
