-- AVG over every type that it takes, with NULLs among the values, and over NULLs alone.
CREATE TABLE orders (
  a TINYINT,
  b SMALLINT,
  c INT,
  d BIGINT,
  e FLOAT,
  f DOUBLE,
  g DECIMAL(12, 3),
  s STRING,
  o BOOLEAN,
  `day` DATE,
  t TIME,
  i TIMESTAMP_LTZ(3),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, AVG(a) AS avg_a,
  AVG(b) AS avg_b,
  AVG(c) AS avg_c,
  AVG(d) AS avg_d,
  AVG(e) AS avg_e,
  AVG(f) AS avg_f,
  AVG(g) AS avg_g
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
