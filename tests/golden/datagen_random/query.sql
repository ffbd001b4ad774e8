-- Random values by a seed, and what stands in a ROW, an ARRAY and a MAP by the path of its options.
CREATE TABLE t (
  n INT,
  maybe INT,
  text STRING,
  place ROW<x INT, y DECIMAL(3, 1)>,
  list ARRAY<TINYINT>,
  flags MAP<STRING, BOOLEAN>
) WITH (
  'connector' = 'datagen', 'number-of-rows' = '6', 'seed' = '2',
  'fields.n.min' = '1', 'fields.n.max' = '6',
  'fields.maybe.null-rate' = '0.5',
  'fields.text.length' = '8', 'fields.text.var-len' = 'true',
  'fields.place.x.min' = '0', 'fields.place.x.max' = '9',
  'fields.list.length' = '2',
  'fields.flags.length' = '1', 'fields.flags.key.length' = '3'
);
SELECT * FROM t;
