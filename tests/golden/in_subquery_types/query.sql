-- golden: no live, no reconcile: subqueries in expressions run in batch alone
-- A value is looked for in a subquery in Flink's common type: DECIMAL with DOUBLE or FLOAT is a DOUBLE. Decimals have all
-- their digits there.
CREATE TABLE numbers (id INT, d DOUBLE, f FLOAT, p DECIMAL(4, 2), big DECIMAL(38, 0), ms TIMESTAMP(3), us TIMESTAMP(6))
  WITH ('connector' = 'filesystem', 'path' = 'numbers.jsonl', 'format' = 'json');
SELECT id AS d_in_p FROM numbers WHERE d IN (SELECT p FROM numbers);
SELECT id AS d_not_in_p FROM numbers WHERE d NOT IN (SELECT p FROM numbers WHERE p IS NOT NULL);
SELECT id AS p_in_d FROM numbers WHERE p IN (SELECT d FROM numbers);
SELECT id AS f_in_p FROM numbers WHERE f IN (SELECT p FROM numbers);
SELECT id AS id_in_p FROM numbers WHERE id IN (SELECT p FROM numbers);
SELECT id AS big_in_p FROM numbers WHERE big IN (SELECT p FROM numbers);
SELECT id AS ms_in_us FROM numbers WHERE ms IN (SELECT us FROM numbers);
SELECT id AS in_greatest FROM numbers WHERE d IN (SELECT MAX(p) FROM numbers) OR id = 5;
SELECT id AS in_own FROM numbers AS a WHERE d IN (SELECT p FROM numbers AS b WHERE b.id = a.id);
