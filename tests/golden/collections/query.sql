-- Constructors, access and functions over columns of rows: elements, keys and fields of each row's own.
CREATE TABLE t (
  id INT,
  xs ARRAY<INT>,
  names ARRAY<STRING>,
  m MAP<STRING, INT>,
  people ARRAY<ROW<name STRING, tags ARRAY<STRING>>>
) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT
  id,
  xs[id] AS at_id,
  m[names[1]] AS of_name,
  people[1].tags[2] AS tag,
  CARDINALITY(xs) AS count_xs,
  ARRAY[id, xs[1], 0] AS made,
  MAP['id', id, 'first', xs[1]] AS made_map,
  ROW(id, names[1]) AS made_row,
  CAST(ROW(id, names[1]) AS ROW<id BIGINT, name STRING>) AS named_row,
  ARRAY_CONTAINS(xs, id) AS has_id,
  ARRAY_SORT(ARRAY_DISTINCT(ARRAY_CONCAT(xs, ARRAY[id, 9]))) AS sorted,
  ARRAY_JOIN(names, '+', '?') AS joined,
  MAP_KEYS(m) AS ks,
  MAP_UNION(m, MAP['z', id])['z'] AS z,
  xs = ARRAY[1, 2] AS same,
  CAST(xs AS STRING) AS shown
FROM t
WHERE id > 0;
