-- MAX over every type that it takes, with NULLs among the values, and over NULLs alone.
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
SELECT window_start, MAX(a) AS max_a,
  MAX(b) AS max_b,
  MAX(c) AS max_c,
  MAX(d) AS max_d,
  MAX(e) AS max_e,
  MAX(f) AS max_f,
  MAX(g) AS max_g,
  MAX(s) AS max_s,
  MAX(`day`) AS max_day,
  MAX(t) AS max_t,
  MAX(ts) AS max_ts,
  MAX(i) AS max_i
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
