-- Conditions on the window's bounds: around the grouped query, in HAVING, and below the GROUP BY, which is the same.
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT window_start, category, revenue FROM (
  SELECT window_start, window_end, category, SUM(amount) AS revenue
  FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end, category)
WHERE window_start >= TIMESTAMP '2026-11-29 10:01:00' AND category <> 'toys';
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end
HAVING window_end > TIMESTAMP '2026-11-29 10:01:00' AND COUNT(*) > 1;
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
WHERE window_start < TIMESTAMP '2026-11-29 10:02:00'
GROUP BY window_start, window_end;
