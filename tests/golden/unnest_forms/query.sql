-- Every form, without windows: arrays of values and rows, maps, places, and rows without elements.
CREATE TABLE t (
  id INT,
  tags ARRAY<STRING>,
  items ARRAY<ROW<sku STRING, n INT>>,
  attributes MAP<STRING, INT>
) WITH ('connector' = 'filesystem', 'path' = 't.jsonl', 'format' = 'json');
CREATE TABLE tags (id INT, tag STRING) WITH ('connector' = 'filesystem', 'path' = 'out/tags', 'format' = 'json');
CREATE TABLE places (id INT, tag STRING, place INT) WITH ('connector' = 'filesystem', 'path' = 'out/places', 'format' = 'json');
CREATE TABLE items (id INT, sku STRING, n INT, place INT) WITH ('connector' = 'filesystem', 'path' = 'out/items', 'format' = 'json');
CREATE TABLE attributes (id INT, k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = 'out/attributes', 'format' = 'json');
CREATE TABLE pairs (id INT, tag STRING, sku STRING) WITH ('connector' = 'filesystem', 'path' = 'out/pairs', 'format' = 'json');
CREATE TABLE computed (id INT, part STRING) WITH ('connector' = 'filesystem', 'path' = 'out/computed', 'format' = 'json');
INSERT INTO tags SELECT id, tag FROM t CROSS JOIN UNNEST(tags) AS tag WHERE id > 0;
INSERT INTO places SELECT t.id, u.tag, u.place FROM t LEFT JOIN UNNEST(t.tags) WITH ORDINALITY AS u(tag, place) ON TRUE;
INSERT INTO items SELECT id, sku, n, `ORDINALITY` FROM t, UNNEST(items) WITH ORDINALITY WHERE n > 1 OR n IS NULL;
INSERT INTO attributes SELECT id, `KEY`, `VALUE` FROM t JOIN UNNEST(attributes) ON TRUE;
INSERT INTO pairs SELECT id, tag, sku FROM t, UNNEST(tags) AS a(tag), UNNEST(items) AS b(sku, n);
INSERT INTO computed SELECT id, part FROM t CROSS JOIN UNNEST(SPLIT(tags[1], '-')) AS p(part);
