-- COLLECT counts the values; PERCENTILE is exact, and between two values it is on the line between them.
CREATE TABLE orders (
  id INT,
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
SELECT window_start,
  COLLECT(category) AS categories,
  COLLECT(DISTINCT category) AS distinct_categories,
  PERCENTILE(amount, 0.5) AS median,
  PERCENTILE(amount, 0.9) AS p90,
  PERCENTILE(amount, 0, id) AS least,
  PERCENTILE(amount, 0.5, id) AS median_by_id,
  COUNT(category, amount) AS both_present
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
SELECT COLLECT(category) AS categories, PERCENTILE(amount, 0.5) AS median FROM orders;
