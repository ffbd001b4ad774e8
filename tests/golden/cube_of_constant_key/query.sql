-- golden: no live, no reconcile: the changelogs of so many groups take long, and it is the batch that once gave groups twice
-- A key that is the same in all rows is NULL in some of the sets: each group comes once, with all its rows.
CREATE TABLE numbers (id BIGINT, k INT) WITH (
  'connector' = 'datagen', 'rows-per-second' = '1000000', 'seed' = '1',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '59999',
  'fields.k.min' = '1', 'fields.k.max' = '2'
);
SELECT 'where' AS what, k, m, n FROM (
  SELECT k, MOD(id, 20000) AS m, COUNT(*) AS n FROM numbers WHERE k = 1 GROUP BY CUBE (k, MOD(id, 20000))
) WHERE m IS NULL OR m < 5
UNION ALL
SELECT 'literal', k, m, n FROM (
  SELECT k, m, COUNT(*) AS n FROM (SELECT 7 AS k, MOD(id, 20000) AS m FROM numbers) GROUP BY CUBE (k, m)
) WHERE m IS NULL OR m < 5;
