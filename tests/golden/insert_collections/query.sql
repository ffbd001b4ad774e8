-- A row is inserted by the position of its fields, and what it holds is widened as a column would be.
CREATE TABLE t (id INT, name STRING) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
CREATE TABLE o (
  items ARRAY<ROW<k BIGINT, v STRING>>,
  m MAP<STRING, BIGINT>,
  r ROW<k DECIMAL(5, 1), v ROW<a INT, b STRING>>
) WITH ('connector' = 'filesystem', 'path' = 'out/o', 'format' = 'json');
INSERT INTO o SELECT ARRAY[ROW(id, name), (id + 1, 'x')], MAP['id', id], ROW(id, ROW(id, name)) FROM t;
