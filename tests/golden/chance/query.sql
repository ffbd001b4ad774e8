-- golden: no reconcile: chance is another in each run
-- A value for each row, in its range; a filter sees another one than the result.
CREATE TABLE orders (id BIGINT, r AS RAND()) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT id, r >= 0 AND r < 1 AS share, RAND_INTEGER(6) BETWEEN 0 AND 5 AS dice, RAND_INTEGER(1) AS zero,
  RAND_INTEGER(CAST(id AS INT)) < id AS below, RAND_INTEGER(CAST(NULL AS INT)) AS nothing,
  CHAR_LENGTH(UUID()) AS letters, SUBSTRING(UUID(), 15, 1) AS version
FROM orders WHERE RAND() < 1;
SELECT COUNT(DISTINCT u) AS different FROM (SELECT UUID() AS u FROM orders);
