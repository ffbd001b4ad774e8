-- Sequences of every kind; the table ends with the shortest.
CREATE TABLE t (
  id BIGINT,
  tiny TINYINT,
  price DECIMAL(6, 2),
  ratio DOUBLE,
  name STRING,
  raw BYTES
) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '1000',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '10', 'fields.id.end' = '14',
  'fields.tiny.kind' = 'sequence', 'fields.tiny.start' = '-2', 'fields.tiny.end' = '127',
  'fields.price.kind' = 'sequence', 'fields.price.start' = '1', 'fields.price.end' = '9999',
  'fields.ratio.kind' = 'sequence', 'fields.ratio.start' = '-1', 'fields.ratio.end' = '100',
  'fields.name.kind' = 'sequence', 'fields.name.start' = '99', 'fields.name.end' = '1000',
  'fields.raw.kind' = 'sequence', 'fields.raw.start' = '255', 'fields.raw.end' = '1000'
);
SELECT * FROM t;
