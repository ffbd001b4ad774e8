-- Provisional results don't show in what is final: hopping windows with a condition on their results, and grouping sets. A
-- window that another reads tells nothing early, so that the outer one is not over updates.
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '0 ms';
CREATE TABLE orders (
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders.jsonl', 'format' = 'json');
SELECT 'hop' AS what, window_start, window_end, category, COUNT(*) AS orders, SUM(amount) AS revenue
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, category
HAVING SUM(amount) < 5;
SELECT 'sets' AS what, window_start, window_end, category, SUM(amount) AS revenue
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, ROLLUP(category);
SELECT 'over' AS what, window_start, window_end, MAX(revenue) AS most
FROM TABLE(TUMBLE(
  (SELECT window_time AS ts, SUM(amount) AS revenue FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
   GROUP BY window_start, window_end, window_time),
  DESCRIPTOR(ts), INTERVAL '2' MINUTE))
GROUP BY window_start, window_end;
