-- golden: no reconcile: there is nothing to reconcile
-- A NULL takes the type of the others, also within collections; a cast keeps its own.
CREATE VIEW v AS SELECT * FROM (VALUES
  (ARRAY[1], 1, CAST(1 AS BIGINT), 1.5, MAP['k', 1]),
  (NULL, NULL, 2, 22, NULL)) AS x(a, b, c, d, e);
DESCRIBE v;
