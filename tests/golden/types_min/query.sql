-- MIN over every type that it takes, with NULLs among the values, and over NULLs alone.
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
SELECT window_start, MIN(a) AS min_a,
  MIN(b) AS min_b,
  MIN(c) AS min_c,
  MIN(d) AS min_d,
  MIN(e) AS min_e,
  MIN(f) AS min_f,
  MIN(g) AS min_g,
  MIN(s) AS min_s,
  MIN(`day`) AS min_day,
  MIN(t) AS min_t,
  MIN(ts) AS min_ts,
  MIN(i) AS min_i
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
