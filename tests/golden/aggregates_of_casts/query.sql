-- The same function over a column and over casts of it: each has its own answer.
CREATE TABLE items (id INT, kind STRING, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'items.jsonl', 'format' = 'json');
SELECT kind, AVG(x) AS whole, AVG(CAST(x AS DOUBLE)) AS exact, AVG(CAST(x AS DECIMAL(10, 2))) AS cents,
  MAX(x) AS highest, MAX(CAST(x AS STRING)) AS last_text, MAX(CAST(x AS BIGINT) + 1) AS next, MAX(x + 1) AS next_int,
  COUNT(DISTINCT x) AS numbers, COUNT(DISTINCT CAST(x AS BOOLEAN)) AS booleans
FROM items GROUP BY kind;
SELECT window_start, SUM(x) AS total, SUM(CAST(x AS DOUBLE)) AS total_double
FROM TUMBLE(TABLE items, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
SELECT x, CAST(x AS STRING) AS text, COUNT(*) AS items FROM items GROUP BY x, CAST(x AS STRING);
SELECT CAST(x AS BOOLEAN) AS truth, x, CAST(x AS STRING) || '!' AS text, SUM(x) AS total
FROM items GROUP BY x, CAST(x AS BOOLEAN), CAST(x AS STRING) || '!' HAVING CAST(x AS BOOLEAN);
