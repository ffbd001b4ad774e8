-- SUM over every type that it takes, with NULLs among the values, and over NULLs alone.
CREATE TABLE orders (
  a TINYINT,
  b SMALLINT,
  c INT,
  d BIGINT,
  e FLOAT,
  f DOUBLE,
  g DECIMAL(12, 3),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, SUM(CAST(a AS INT)) AS sum_a,
  SUM(CAST(b AS BIGINT)) AS sum_b,
  SUM(CAST(c AS BIGINT)) AS sum_c,
  SUM(d) AS sum_d,
  SUM(e) AS sum_e,
  SUM(f) AS sum_f,
  SUM(g) AS sum_g
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
