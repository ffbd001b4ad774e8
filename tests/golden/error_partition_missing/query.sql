CREATE TABLE orders (
  category STRING,
  amount INT,
  ts TIMESTAMP(3),
  `day` DATE,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) PARTITIONED BY (`day`) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
SELECT `day` FROM orders;
