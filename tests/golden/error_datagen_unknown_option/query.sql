CREATE TABLE t (amount INT, note STRING) WITH (
  'connector' = 'datagen',
  'number-of-rows' = '3',
  'fields.amount.mx' = '7'
);
SELECT * FROM t;
