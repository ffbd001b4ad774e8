-- COUNT over every type that it takes, with NULLs among the values, and over NULLs alone.
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
SELECT window_start, COUNT(a) AS count_a,
  COUNT(b) AS count_b,
  COUNT(c) AS count_c,
  COUNT(d) AS count_d,
  COUNT(e) AS count_e,
  COUNT(f) AS count_f,
  COUNT(g) AS count_g,
  COUNT(s) AS count_s,
  COUNT(`day`) AS count_day,
  COUNT(t) AS count_t,
  COUNT(ts) AS count_ts,
  COUNT(i) AS count_i,
  COUNT(o) AS count_o
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
