-- Folders as a sink writes them, with moments and NULL: they are what was written.
CREATE TABLE orders (
  id BIGINT,
  day DATE,
  moment TIMESTAMP(3),
  flag BOOLEAN,
  word STRING
) PARTITIONED BY (day, moment, flag, word) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv');
SELECT * FROM orders;
