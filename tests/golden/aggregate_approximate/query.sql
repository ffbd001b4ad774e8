-- So few values are counted exactly. NULL is left out.
CREATE TABLE orders (
  id INT,
  category STRING,
  amount DECIMAL(10, 2),
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'orders', 'format' = 'json');
SELECT window_start, APPROX_COUNT_DISTINCT(amount) AS amounts, APPROX_COUNT_DISTINCT(category) AS categories,
  APPROX_COUNT_DISTINCT(id) FILTER (WHERE category = 'no such') AS none
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
SELECT category, APPROX_COUNT_DISTINCT(id) AS ids FROM orders GROUP BY category;
