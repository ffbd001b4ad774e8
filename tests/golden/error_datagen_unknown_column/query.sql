CREATE TABLE t (amount INT, note STRING) WITH (
  'connector' = 'datagen',
  'number-of-rows' = '3',
  'fields.amuont.max' = '7'
);
SELECT * FROM t;
