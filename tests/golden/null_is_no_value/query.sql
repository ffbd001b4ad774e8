-- golden: no reconcile: without windows no row is late
-- A bare NULL is absent from JSON, is a NULL field of a ROW, and has no text.
CREATE TABLE t (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
SELECT
  JSON_OBJECT('a' VALUE NULL, 'b' VALUE id ABSENT ON NULL) AS object,
  JSON_ARRAY(id, NULL) AS `array`,
  CAST(ROW(id, NULL) AS ROW<a INT, b STRING>) AS r,
  CAST(ROW(id, NULL) AS STRING) AS text,
  ARRAY_SLICE(ARRAY[1, 2, 3], 1, -9) AS none,
  ARRAY_SLICE(ARRAY[1, 2, 3], 1, -4) AS `first`
FROM t;
