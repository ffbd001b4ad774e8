-- An offset from UTC, a window over windows, another over their event time, sessions, a Top-N, and TIMESTAMPs, which no zone moves.
SET 'table.local-time-zone' = 'GMT-03:30';
CREATE TABLE orders (
  category STRING,
  n INT,
  ts TIMESTAMP_LTZ(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
CREATE TABLE plain (
  category STRING,
  n INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'plain.jsonl', 'format' = 'json');
SELECT 'again' AS what, window_start, window_end, window_time, MAX(numbers) AS most
FROM (
  SELECT window_start, window_end, window_time, category, SUM(n) AS numbers
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY))
  GROUP BY window_start, window_end, window_time, category
)
GROUP BY window_start, window_end, window_time;
SELECT 'over' AS what, window_start, window_end, window_time, MAX(numbers) AS most
FROM TABLE(TUMBLE(
  (SELECT window_time AS ts, SUM(n) AS numbers FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))
   GROUP BY window_start, window_end, window_time),
  DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end, window_time;
SELECT 'session' AS what, window_start, window_end, window_time, category, SUM(n) AS numbers
FROM TABLE(SESSION(TABLE orders PARTITION BY category, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, window_time, category;
SELECT 'first' AS what, window_start, window_end, category, numbers
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY numbers DESC) AS rn
  FROM (
    SELECT window_start, window_end, category, SUM(n) AS numbers
    FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' DAY))
    GROUP BY window_start, window_end, category
  )
)
WHERE rn <= 1;
SELECT 'plain' AS what, window_start, window_end, window_time, SUM(n) AS numbers
FROM TABLE(TUMBLE(TABLE plain, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end, window_time;
