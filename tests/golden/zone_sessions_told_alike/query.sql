-- The hour from two to three comes twice in Berlin: a has a session in each, told alike to the millisecond.
SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE TABLE orders (
  k STRING,
  n INT,
  ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE sessions (
  k STRING,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  orders BIGINT,
  numbers INT
) WITH ('connector' = 'filesystem', 'path' = 'out/sessions', 'format' = 'json');
CREATE TABLE of_a_query (
  who STRING,
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  numbers INT
) WITH ('connector' = 'filesystem', 'path' = 'out/of_a_query', 'format' = 'json');
INSERT INTO sessions
SELECT k, window_start, window_end, COUNT(*), SUM(n)
FROM TABLE(SESSION(TABLE orders PARTITION BY k, DESCRIPTOR(ts), INTERVAL '15' MINUTE))
GROUP BY window_start, window_end, k;
INSERT INTO of_a_query
SELECT who, s, e, SUM(n)
FROM (
  SELECT k AS who, window_start AS s, window_end AS e, n
  FROM TABLE(SESSION(TABLE orders PARTITION BY k, DESCRIPTOR(ts), INTERVAL '15' MINUTE))
) AS told
GROUP BY s, e, who;
