-- golden: no live, no reconcile: INTERSECT and EXCEPT run in batch alone
-- The columns of INTERSECT and EXCEPT have Flink's common type, and rows are the same if they are in it: DECIMAL with
-- DOUBLE or FLOAT is a DOUBLE, INT with DECIMAL a DECIMAL. Two numbers that are one as a DOUBLE come once.
CREATE TABLE numbers (id INT, b BIGINT, d DOUBLE, f FLOAT, p DECIMAL(4, 2), ms TIMESTAMP(3), us TIMESTAMP(6))
  WITH ('connector' = 'filesystem', 'path' = 'numbers.jsonl', 'format' = 'json');
CREATE VIEW v AS SELECT p AS x, id AS y, ms AS z FROM numbers INTERSECT SELECT d, p, us FROM numbers;
DESCRIBE v;
SELECT * FROM v;
SELECT p AS p_and_d FROM numbers INTERSECT SELECT d FROM numbers;
SELECT d AS d_not_p FROM numbers EXCEPT SELECT p FROM numbers;
SELECT f AS f_and_p FROM numbers INTERSECT SELECT p FROM numbers;
SELECT id AS id_and_p FROM numbers INTERSECT SELECT p FROM numbers;
SELECT b AS b_not_d FROM numbers WHERE id > 2 EXCEPT SELECT d FROM numbers;
